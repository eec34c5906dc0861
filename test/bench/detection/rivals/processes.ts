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
const COPY_JARS = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** A program that reads series from one file and writes scores to another. */
export interface RivalProgram {
  readonly file: string;
  /** Names the versions of what it runs on. */
  readonly version: string;
  /** The command before the two files. Throws what is missing. */
  command(): Promise<readonly [string, ...string[]]>;
}

export const RANDOM_CUT_FORESTS: RivalProgram = {
  file: join(import.meta.dirname, 'RandomCutForests.java'),
  version: '4.4.0',
  async command() {
    const jars = join(BENCH_CACHE, `random-cut-forest-${this.version}`);
    if (!existsSync(jars)) await fetchJars(jars);
    return ['java', '-cp', join(jars, '*'), this.file];
  },
};

export const HALF_SPACE_TREES: RivalProgram = {
  file: join(import.meta.dirname, 'half_space_trees.py'),
  version: RIVER,
  async command() {
    const missing = await whyNoPython();
    if (missing !== null) throw new Error(`river ${missing}`);
    return [await pythonWith([RIVER]), this.file];
  },
};

/** A score for each row of each series, from an earlier run where program and values are the same. */
export async function keptScores(program: RivalProgram, inputs: readonly SeriesInput[]): Promise<Float64Array[]> {
  const text = await readFile(program.file);
  const keptAt = inputs.map((input) => {
    const digest = createHash('sha256')
      .update(program.version)
      .update(text)
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

/** Scores, and how many observations a core scores in a second. */
export async function runRival(
  program: RivalProgram,
  inputs: readonly SeriesInput[],
): Promise<{ readonly scores: readonly Float64Array[]; readonly observationsPerSecond: number }> {
  const [command, ...args] = await program.command();
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-rival-'));
  try {
    const [from, to] = [join(folder, 'in'), join(folder, 'out')];
    await writeFile(from, packed(inputs));
    await run(command, [...args, from, to]);
    const [observationsPerSecond, ...rest] = new Float64Array(new Uint8Array(await readFile(to)).buffer);
    let at = 0;
    const scores = inputs.map(({ times }) => {
      at += times.length;
      return Float64Array.from(rest.slice(at - times.length, at));
    });
    return { scores, observationsPerSecond: observationsPerSecond! };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function packed(inputs: readonly SeriesInput[]): Uint8Array {
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

/** Made beside its place and moved there when it is whole. */
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
