/** Rivals in processes of their own. Their scores are kept: they never change. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith, whyNoPython } from '../../../fixture/http/python.ts';
import type { SeriesInput } from '../labelled-data.ts';
import { BENCH_CACHE } from '../product.ts';

const run = promisify(execFile);

const RIVER = 'river==0.26.1';
const STATSFORECAST = 'statsforecast==2.1.1';
const COPY_JARS = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** A program that reads series from one file and writes scores to another. */
export interface RivalProgram {
  readonly file: string;
  /** Names the versions of what it runs on. */
  readonly version: string;
  /** The command before the two files. Throws what is missing. */
  command(): Promise<readonly [string, ...string[]]>;
  /** The argument behind the two files. */
  settings(inputs: readonly SeriesInput[]): string;
}

function forests(settings: 'defaults' | 'normalised'): RivalProgram {
  const [file, version] = [join(import.meta.dirname, 'RandomCutForests.java'), '4.4.0'];
  return {
    file,
    version,
    async command() {
      const jars = join(BENCH_CACHE, `random-cut-forest-${version}`);
      if (!existsSync(jars)) await fetchJars(jars);
      return ['java', '-cp', join(jars, '*'), file];
    },
    settings: () => settings,
  };
}

function python(name: string, version: string, settings: RivalProgram['settings']): RivalProgram {
  const file = join(import.meta.dirname, name);
  return {
    file,
    version,
    async command() {
      const missing = await whyNoPython();
      if (missing !== null) throw new Error(`${version} ${missing}`);
      return [await pythonWith([version]), file];
    },
    settings,
  };
}

const DAY_MS = 86_400_000;
/** Rows of a day, of a week of daily values, at least of 24. */
const seasonOf = ({ stepMs }: SeriesInput) => (stepMs >= DAY_MS ? 7 : Math.max(24, Math.round(DAY_MS / stepMs)));

/** With 50 trees of 256 samples, on normalised values; with its defaults. */
export const RANDOM_CUT_FORESTS = forests('normalised');
export const DEFAULT_FORESTS = forests('defaults');
export const HALF_SPACE_TREES = python('river_detectors.py', RIVER, () => 'trees');
export const GAUSSIAN = python('river_detectors.py', RIVER, () => 'gaussian');
export const SEASONAL_NAIVE = python('seasonal_naive.py', STATSFORECAST, (inputs) => inputs.map(seasonOf).join(','));

/** A score for each row of each series, from an earlier run where program and values are the same. */
export async function keptScores(program: RivalProgram, inputs: readonly SeriesInput[]): Promise<Float64Array[]> {
  const text = await readFile(program.file);
  const keptAt = inputs.map((input) => {
    const digest = createHash('sha256')
      .update(program.version)
      .update(text)
      .update(program.settings([input]))
      .update(packed([input]))
      .digest('hex');
    return join(BENCH_CACHE, `scores-${digest.slice(0, 24)}`);
  });
  const missing = inputs.filter((_, i) => !existsSync(keptAt[i]));
  if (missing.length > 0) {
    const { scores } = await runRival(program, missing);
    for (const [i, input] of missing.entries()) {
      const kept = keptAt[inputs.indexOf(input)];
      await writeFile(`${kept}.new`, new Uint8Array(scores[i].slice().buffer));
      await rename(`${kept}.new`, kept);
    }
  }
  return Promise.all(keptAt.map(async (kept) => new Float64Array(new Uint8Array(await readFile(kept)).buffer)));
}

/** What a rival reports of its series, how many observations a core scores in a second, and bytes a series. */
interface RivalRun {
  readonly scores: readonly Float64Array[];
  /** 1 where there is an alarm by its defaults. */
  readonly alarms: readonly Uint8Array[];
  readonly observationsPerSecond: number;
  readonly bytesPerSeries: number;
}

export async function runRival(program: RivalProgram, inputs: readonly SeriesInput[]): Promise<RivalRun> {
  const [command, ...args] = await program.command();
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-rival-'));
  try {
    const [from, to] = [join(folder, 'in'), join(folder, 'out')];
    await writeFile(from, packed(inputs));
    await run(command, [...args, from, to, program.settings(inputs)], { maxBuffer: 1e8 });
    const found = new Float64Array(new Uint8Array(await readFile(to)).buffer);
    let at = 2;
    const pairs = inputs.map(({ times }) => {
      at += 2 * times.length;
      return found.subarray(at - 2 * times.length, at);
    });
    return {
      scores: pairs.map((pair) => pair.filter((_, i) => i % 2 === 0)),
      alarms: pairs.map((pair) => Uint8Array.from(pair.filter((_, i) => i % 2 === 1))),
      observationsPerSecond: found[0],
      bytesPerSeries: found[1],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function packed(inputs: readonly SeriesInput[]): Uint8Array {
  const size = inputs.reduce((sum, { times, channels }) => sum + 2 + times.length * channels.length, 0);
  const values = new Float64Array(size);
  let at = 0;
  for (const { times, channels } of inputs) {
    values[at++] = times.length;
    values[at++] = channels.length;
    for (let row = 0; row < times.length; row++) for (const channel of channels) values[at++] = channel[row];
  }
  return new Uint8Array(values.buffer);
}

/** Made next to its place and moved there when it is whole. */
async function fetchJars(folder: string): Promise<void> {
  await mkdir(BENCH_CACHE, { recursive: true });
  const partial = await mkdtemp(`${folder}.partial-`);
  const pom = join(import.meta.dirname, 'pom.xml');
  await run('mvn', [
    '-B',
    '-ntp',
    '-q',
    '-f',
    pom,
    COPY_JARS,
    `-DoutputDirectory=${partial}`,
    '-DincludeScope=runtime',
  ]);
  await rename(partial, folder);
}
