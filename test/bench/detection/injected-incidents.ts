/** Incidents put into series in which nothing is wrong: generated ones, and quiet stretches of real ones. */
import { seededRandom } from '../../fixture/seeded-random.ts';
import { segmentsOf } from './event-segments.ts';
import type { LabelledInput } from './labelled-data.ts';

export const INJECTED_KINDS = [
  'spike',
  'dip',
  'level shift',
  'drift',
  'missing season',
  'stuck',
  'burst',
  'noise change',
] as const;
export type InjectedKind = (typeof INJECTED_KINDS)[number];

/** In deviations of what is left of a series without its season. */
export const INJECTED_SIZES = [4, 8, 16] as const;
export type InjectedSize = (typeof INJECTED_SIZES)[number];

export interface Injected {
  readonly kind: InjectedKind;
  /** null for what has no size. */
  readonly size: InjectedSize | null;
  readonly start: number;
  readonly end: number;
}

export interface InjectedSeries extends LabelledInput {
  /** Ascending, one for each run of labels. */
  readonly incidents: readonly Injected[];
}

/** What a series is made of. */
interface Quiet {
  readonly name: string;
  readonly stepMs: number;
  readonly values: Float64Array;
  /** What is left at each row when the season is taken away; null where there is none, or it is not known. */
  readonly withoutSeason: Float64Array | null;
  readonly sigma: number;
}

const ROWS = 5_400;
const FIRST_START = 1_200;
const APART = 500;
/** Rows before it are not judged. */
const SPLIT = 1_000;
const GENERATED_OF_A_SIZE = 10;
const STEP_MS = 300_000;
const START_MS = Date.UTC(2025, 0, 6);
/** A real stretch lies this far from every incident. */
const MARGIN = 200;
const QUIET_ROWS_MIN = FIRST_START + 3 * APART;
/** What is left without the mean of these rows before it is what a real series does by itself. */
const LOCAL_ROWS = 24;

const LENGTHS: Readonly<Record<InjectedKind, number>> = {
  spike: 1,
  dip: 1,
  'level shift': 100,
  drift: 144,
  'missing season': 144,
  stuck: 60,
  burst: 12,
  'noise change': 100,
};

/** The same in every run: each size as often as the others, each series with one incident of every kind. */
export function generatedIncidents(everyNth = 1): InjectedSeries[] {
  const count = INJECTED_SIZES.length * GENERATED_OF_A_SIZE;
  return Array.from({ length: count }, (_, i) => i)
    .filter((i) => i % everyNth === 0)
    .map((i) => inject(generated(i), INJECTED_SIZES[Math.floor(i / GENERATED_OF_A_SIZE)], i));
}

/** The longest quiet stretch of each series, where it is long enough and not flat. */
export function realIncidents(inputs: readonly LabelledInput[]): InjectedSeries[] {
  return inputs.flatMap((input, i) => {
    const quiet = quietStretch(input);
    return quiet === null ? [] : [inject(quiet, INJECTED_SIZES[i % INJECTED_SIZES.length], 1_000 + i)];
  });
}

function generated(seed: number): Quiet {
  const random = seededRandom(seed);
  const period = [24, 48, 96][Math.floor(3 * random())];
  const amplitude = 3 + 9 * random();
  const second = amplitude * 0.5 * random();
  const sigma = 0.3 + 1.2 * random();
  const memory = 0.6 * random();
  const withoutSeason = new Float64Array(ROWS);
  let noise = 0;
  const values = Float64Array.from({ length: ROWS }, (_, row) => {
    noise = memory * noise + Math.sqrt(1 - memory ** 2) * normalOf(random);
    withoutSeason[row] = 100 + sigma * noise;
    const phase = (2 * Math.PI * row) / period;
    return withoutSeason[row] + amplitude * Math.sin(phase) + second * Math.cos(2 * phase);
  });
  return { name: `generated ${seed}`, stepMs: STEP_MS, values, withoutSeason, sigma };
}

function quietStretch({ name, labels, channels, stepMs }: LabelledInput): Quiet | null {
  const noise = segmentsOf(labels.map((label) => 1 - label)).map(({ start, end }) => {
    return { start: start === 0 ? 0 : start + MARGIN, end: end === labels.length ? end : end - MARGIN };
  });
  const longest = noise.reduce((best, each) => (each.end - each.start > best.end - best.start ? each : best));
  const end = Math.min(longest.end, longest.start + ROWS);
  if (end - longest.start < QUIET_ROWS_MIN) return null;
  const values = channels[0].slice(longest.start, end);
  const sigma = localDeviation(values);
  return sigma > 0 && values.every(Number.isFinite) ? { name, stepMs, values, withoutSeason: null, sigma } : null;
}

/** Root mean square of the distance from the mean of the rows before. */
function localDeviation(values: Float64Array): number {
  let sum = 0;
  let squares = 0;
  values.forEach((value, row) => {
    if (row >= LOCAL_ROWS) {
      squares += (value - sum / LOCAL_ROWS) ** 2;
      sum -= values[row - LOCAL_ROWS];
    }
    sum += value;
  });
  return Math.sqrt(squares / (values.length - LOCAL_ROWS));
}

function inject(quiet: Quiet, size: InjectedSize, seed: number): InjectedSeries {
  const random = seededRandom(7_919 * (seed + 1));
  const kinds = shuffled(INJECTED_KINDS, random).filter((kind) => kind !== 'missing season' || quiet.withoutSeason);
  const values = quiet.values.slice();
  const labels = new Uint8Array(values.length);
  const incidents: Injected[] = [];
  for (const [i, kind] of kinds.entries()) {
    const start = FIRST_START + i * APART + Math.floor(100 * random());
    const end = start + LENGTHS[kind];
    if (end + APART / 2 > values.length) break;
    for (let row = start; row < end; row++) {
      values[row] = disturbed({ kind, start, row, shift: size * quiet.sigma, normal: normalOf(random) }, quiet);
    }
    labels.fill(1, start, end);
    incidents.push({ kind, start, end, size: kind === 'stuck' || kind === 'missing season' ? null : size });
  }
  const { name, stepMs } = quiet;
  const times = Float64Array.from(values, (_, row) => START_MS + row * stepMs);
  return { name, source: '', stepMs, times, channels: [values], labels, split: SPLIT, vusWindow: 0, incidents };
}

interface Disturbance {
  readonly kind: InjectedKind;
  readonly start: number;
  readonly row: number;
  readonly shift: number;
  /** A standard normal number. */
  readonly normal: number;
}

function disturbed({ kind, start, row, shift, normal }: Disturbance, { values, withoutSeason }: Quiet): number {
  const value = values[row];
  switch (kind) {
    case 'spike':
    case 'level shift':
      return value + shift;
    case 'dip':
      return value - shift;
    case 'drift':
      // Back as slowly as it came: its end is not to give it away.
      return value + shift * (1 - Math.abs((2 * (row - start)) / LENGTHS.drift - 1));
    case 'missing season':
      return withoutSeason![row];
    case 'stuck':
      return values[start];
    case 'burst':
      return value + shift * normal;
    case 'noise change':
      return value + (shift / 2) * normal;
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

function normalOf(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
