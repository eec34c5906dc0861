import { type Frequency, meanStepMs } from '../../time/frequency.ts';
import { inferFrequency } from '../../time/infer-frequency.ts';
import { type Season, seasonOf } from './daily-season.ts';
import { meansOf, rateOf, type SeriesColumn } from './series-columns.ts';

export interface SeriesProfile {
  readonly id: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** null if no two observations follow each other. */
  readonly freq: Frequency | null;
  /** Steps from the first to the last observation. */
  readonly steps: number;
  /** Share of these steps without an observation. */
  readonly missing: number;
  /** Steps of the longest gap but two: one that is usual. */
  readonly usualGap: number;
  readonly min: number;
  readonly max: number;
  /** Median of the absolute changes from one observation to the next. */
  readonly change: number;
  /** Smallest distance of two values where there are few of them; 0 if there are many. */
  readonly resolution: number;
  /** If so, the other fields describe its rate. */
  readonly isCounter: boolean;
  /** True if several observations come in a step; the other fields describe their means then. */
  readonly isAggregated: boolean;
  readonly season: Season | null;
}

/** Names of counters, as Prometheus demands them of exporters. */
const COUNTER_NAME = /_(?:total|count|sum|bucket)(?:[{"]|$)/;
/** A counter with any name grows at this share of its steps, and falls at no more than that, or once. */
const GROWTH_SHARE_MIN = 0.2;
const RESETS_SHARE_MAX = 0.02;
/** A reset begins near 0: below this share of the value before it. */
const RESET_SHARE_MAX = 0.1;
const COUNTER_OBSERVATIONS_MIN = 10;
/** More distinct values have no resolution. */
const DISTINCT_MAX = 64;
/** A step that differs by this share from another is the same one: clocks jitter. */
export const STEP_SHARE_MAX = 0.05;

/** Steps are no shorter: observations that come more often are aggregated. */
const STEP_MS_MIN = 60_000;

/** Behaviour of a series as it would be watched: a counter by its rate, short steps as means of a minute. */
export function profileSeries(column: SeriesColumn): SeriesProfile {
  const given = profileColumn(column);
  const counts = isCounter(column) && column.times.length > 1;
  const isAggregated = given.freq !== null && meanStepMs(given.freq) < STEP_MS_MIN;
  if (!counts && !isAggregated) return given;
  const read = counts ? rateOf(column) : column;
  return { ...profileColumn(isAggregated ? meansOf(read, STEP_MS_MIN) : read), isCounter: counts, isAggregated };
}

function profileColumn(column: SeriesColumn): SeriesProfile {
  const { id, times, values } = column;
  const count = times.length;
  const freq = inferFrequency([times]);
  const [firstMs, lastMs] = [times[0], times[count - 1]];
  const stepMs = freq === null ? Number.NaN : meanStepMs(freq);
  const steps = freq === null ? 1 : Math.max(count, Math.round((lastMs - firstMs) / stepMs) + 1);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return {
    id,
    count,
    firstMs,
    lastMs,
    freq,
    steps,
    missing: 1 - count / steps,
    usualGap: usualGap(times, stepMs),
    min,
    max,
    change: medianChange(values),
    resolution: resolutionOf(values),
    isCounter: false,
    isAggregated: false,
    season: freq?.kind === 'fixed' ? seasonOf(column, freq.stepMs) : null,
  };
}

export function isConstant({ min, max }: Pick<SeriesProfile, 'min' | 'max'>): boolean {
  return min === max;
}

/** The third longest gap, in steps: a single outage is none that is usual. */
function usualGap(times: Float64Array, stepMs: number): number {
  const longest = [0, 0, 0];
  for (let i = 1; i < times.length; i++) {
    const gap = times[i] - times[i - 1];
    if (gap <= longest[2]) continue;
    longest[2] = gap;
    longest.sort((a, b) => b - a);
  }
  return longest[2] === 0 ? 1 : Math.round(longest[2] / stepMs);
}

function medianChange(values: Float64Array): number {
  const changes = new Float64Array(Math.max(0, values.length - 1));
  for (let i = 0; i < changes.length; i++) changes[i] = Math.abs(values[i + 1] - values[i]);
  changes.sort();
  return changes[changes.length >> 1] ?? 0;
}

function resolutionOf(values: Float64Array): number {
  const distinct = new Set<number>();
  for (const value of values) if (distinct.add(value).size > DISTINCT_MAX) return 0;
  const sorted = Float64Array.from(distinct).sort();
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = 1; i < sorted.length; i++) smallest = Math.min(smallest, sorted[i] - sorted[i - 1]);
  return Number.isFinite(smallest) ? smallest : 0;
}

/** True if it falls only to begin near 0 again; a series without the name of a counter must have done so. */
export function isCounter({ id, values }: SeriesColumn): boolean {
  const changes = values.length - 1;
  if (changes + 1 < COUNTER_OBSERVATIONS_MIN) return false;
  let [grown, resets] = [0, 0];
  for (let i = 1; i <= changes; i++) {
    if (values[i] < 0) return false;
    if (values[i] > values[i - 1]) grown++;
    if (values[i] >= values[i - 1]) continue;
    if (values[i] > RESET_SHARE_MAX * values[i - 1]) return false;
    resets++;
  }
  if (resets > Math.max(1, RESETS_SHARE_MAX * changes)) return false;
  if (COUNTER_NAME.test(id)) return grown > 0;
  return resets > 0 && grown >= GROWTH_SHARE_MIN * changes;
}
