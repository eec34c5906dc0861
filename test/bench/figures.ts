/**
 * The figures that documents quote, in figures.json: of each bench those of its last recorded run. A document names
 * the figure behind its number, as in `97,000<!-- stream.obs_per_s -->`; test/tidy/pages/figures.ts compares the two.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Figures } from './bench.ts';

const FILE = new URL('./figures.json', import.meta.url);

/** What a bench printed last, and where. A run of some parts of a bench replaces the figures of those alone. */
export interface RecordedBench {
  readonly command: string;
  /** Day of the run, YYYY-MM-DD. */
  readonly date: string;
  /** Load average of a minute as the bench began; null: it was not noted. An idle machine has less than 1. */
  readonly load: number | null;
  readonly machine: string;
  readonly figures: Figures;
}

export type RecordedFigures = Readonly<Record<string, RecordedBench>>;

export function recordedFigures(): RecordedFigures {
  return JSON.parse(readFileSync(FILE, 'utf8')) as RecordedFigures;
}

/** @returns those recorded before, with this run of a bench. */
export function withRun(recorded: RecordedFigures, bench: string, run: RecordedBench): RecordedFigures {
  const figures = { ...recorded[bench]?.figures, ...run.figures };
  const entries = Object.entries({ ...recorded, [bench]: { ...run, figures } });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes figures.json. `date` is when the bench began, `load` the load average then. */
export function recordFigures(
  bench: string,
  {
    args,
    figures,
    date,
    load,
    machine,
  }: Omit<RecordedBench, 'command' | 'date'> & {
    readonly args: readonly string[];
    readonly date: Date;
  },
): void {
  const command = ['npm run bench --', bench, ...args].join(' ');
  const run = { command, date: date.toISOString().slice(0, 10), load, machine, figures };
  writeFileSync(FILE, `${JSON.stringify(withRun(recordedFigures(), bench, run), null, 2)}\n`);
}

/** Instructions that decide how fast a model runs, best first. */
const VECTOR_FLAGS = ['amx_int8', 'avx512_vnni', 'avx_vnni', 'avx512f', 'avx2'];

/** Processor and Node of this machine: models have 8-bit products, whose speed follows from its instructions. */
export function thisMachine(): string {
  const cpuInfo = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'utf8') : '';
  const flags = new Set(/^flags\s*:(.*)$/m.exec(cpuInfo)?.[1].trim().split(/\s+/));
  const vector = VECTOR_FLAGS.find((flag) => flags.has(flag));
  const processor = [cpus()[0]?.model.trim(), vector].filter((part) => part !== undefined).join(' with ');
  return `${availableParallelism()} cores of ${processor}, node ${process.version}`;
}

export const loadOfLastMinute = () => Math.round((loadavg()[0] ?? 0) * 100) / 100;
