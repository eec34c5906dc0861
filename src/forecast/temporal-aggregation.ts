/**
 * Finely sampled series have seasons that no context holds: a week of 5-minute data is 2016 values. Averaged into blocks, it is 168.
 */
export interface TemporalAggregation {
  /** Values that are averaged into a block. */
  readonly stride: number;
  /** Longest context of blocks. */
  readonly blocks: number;
  /** Values in a day. */
  readonly day: number;
}

/** Days back at which it is tried whether blocks would have helped; before them it is tried one horizon back. */
const TRIAL_DAYS_MAX = 2;
const WEEK_DAYS = 7;
/** Days that a trial must see: of fewer, blocks show nothing that the context of single values does not. */
const SEEN_DAYS_MIN = 2;
/** A shorter horizon is better known from single values. */
const HORIZON_BLOCKS_MIN = 2;
/** Shares of the correction that are tried; the first that is best counts. */
const SHARES = [0, 0.25, 0.5, 0.75, 1];
/** A correction must lower the past error by as much: a smaller gain is chance. */
const GAIN_MIN = 0.02;

/** Values before a cutoff that a forecast looks at, trials in the past included. */
export function lookback({ stride, blocks, day }: TemporalAggregation, context: number): number {
  return Math.max(context, stride * blocks, SEEN_DAYS_MIN * day) + TRIAL_DAYS_MAX * day;
}

/** Forecasts of the past, steps and distances from the cutoff in values. */
export interface BacktestPlan {
  /** Steps that each of them covers; none overlaps what is to be forecast. */
  readonly h: number;
  /** Where the forecast and its correction are made anew. */
  readonly offsets: readonly number[];
  /**
   * Where the present correction itself is tried, on a forecast of single values made a week ago: what the days before a weekend show of a weekend
   * is nothing, what the last one shows is all. Null where a forecast does not look as far back.
   */
  readonly weekAgo: { readonly offset: number; readonly context: number } | null;
}

export function trialsOf(h: number, context: number, aggregation: TemporalAggregation): BacktestPlan {
  const { day } = aggregation;
  const trialH = Math.min(h, day);
  const offsets = new Set([trialH]);
  for (let days = 1; days <= TRIAL_DAYS_MAX; days++) offsets.add(days * day);
  const offset = WEEK_DAYS * day;
  const left = lookback(aggregation, context) - offset;
  const weekAgo = left < SEEN_DAYS_MIN * day ? null : { offset, context: Math.min(context, left) };
  return { h: trialH, offsets: [...offsets], weekAgo };
}

/** Whether something can be tried so far back. */
export function hasHistory(cutoff: number, { day }: TemporalAggregation): boolean {
  return cutoff >= SEEN_DAYS_MIN * day;
}

/** Whether blocks can say anything about `h` values after this cutoff. */
export function canAggregate(cutoff: number, h: number, { stride, day }: TemporalAggregation): boolean {
  return h >= HORIZON_BLOCKS_MIN * stride && cutoff >= (TRIAL_DAYS_MAX + SEEN_DAYS_MIN) * day;
}

/** Means of the blocks that end at `cutoff`, oldest first; NaN where nothing was observed. Only whole blocks count. */
export function aggregateBefore(
  values: ArrayLike<number>,
  cutoff: number,
  { stride, blocks }: TemporalAggregation,
): Float64Array {
  const count = Math.min(blocks, Math.floor(cutoff / stride));
  return Float64Array.from({ length: count }, (_, i) => meanOf(values, cutoff - (count - i) * stride, stride));
}

/**
 * What blocks say about a forecast: the distances of its own blocks from theirs, on a line from block to block that begins at 0, since the
 * present is known better from single values.
 * @param single forecast of single values
 * @param blocks forecast of the blocks that cover it
 */
export function correctionOf(
  single: Float64Array,
  blocks: Float64Array,
  { stride }: TemporalAggregation,
): Float64Array {
  const starts = Array.from({ length: Math.ceil(single.length / stride) }, (_, block) => block * stride);
  const apart = starts.map((start, block) => {
    return blocks[block] - meanOf(single, start, Math.min(stride, single.length - start));
  });
  return single.map((_, k) => {
    const next = Math.floor((k + 0.5) / stride + 0.5);
    if (next === apart.length) return apart[next - 1];
    const [from, length] = next === 0 ? [0, stride / 2] : [apart[next - 1], stride];
    const passed = k + 0.5 - (next === 0 ? 0 : (next - 0.5) * stride);
    return from + ((apart[next] - from) * passed) / length;
  });
}

/** A forecast that was tried in the past. */
export interface Trial {
  readonly actual: ArrayLike<number>;
  readonly single: Float64Array;
  readonly correction: Float64Array;
}

/** The share of a correction that would have served best in the trials, by their mean absolute errors; 0 where it gains nothing to speak of. */
export function blendWeight(trials: readonly Trial[]): number {
  const errors = SHARES.map(() => 0);
  for (const { actual, single, correction } of trials) {
    const missed = SHARES.map((share) => meanOf(distances(actual, single, correction, share), 0, single.length));
    if (missed.some(Number.isNaN)) continue;
    missed.forEach((error, i) => {
      errors[i] += error;
    });
  }
  let best = 0;
  let least = errors[0];
  for (let i = 1; i < SHARES.length; i++) {
    const error = errors[i] * (1 + GAIN_MIN);
    if (error < least) {
      best = i;
      least = error;
    }
  }
  return SHARES[best];
}

function distances(actual: ArrayLike<number>, single: Float64Array, correction: Float64Array, share: number) {
  return single.map((value, k) => Math.abs(actual[k] - value - share * correction[k]));
}

/** Mean of what was observed. */
function meanOf(values: ArrayLike<number>, start: number, length: number): number {
  let sum = 0;
  let count = 0;
  for (let i = start; i < start + length; i++) {
    if (Number.isNaN(values[i])) continue;
    sum += values[i];
    count++;
  }
  return sum / count;
}
