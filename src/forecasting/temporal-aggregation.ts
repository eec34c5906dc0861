/**
 * Temporal aggregation: finely sampled series have seasons longer than the model's context. A week of 5-minute data is
 * 2016 values; averaged by the hour it is 168.
 */
export interface TemporalAggregation {
  /** Values averaged into one block. */
  readonly stride: number;
  /** Longest context of the aggregated series, in blocks. */
  readonly blocks: number;
  /** Values in a day. */
  readonly day: number;
}

/** Days back at which the blend is backtested, in addition to one horizon back. */
const BACKTEST_DAYS_MAX = 2;
const WEEK_DAYS = 7;
/** Shortest history of a backtest, in days. A shorter aggregated series shows no more than the fine context. */
const HISTORY_DAYS_MIN = 2;
/** Shortest horizon that is blended, in blocks. */
const HORIZON_BLOCKS_MIN = 2;
/** Candidate blend weights. Of equal errors the first wins. */
const BLEND_WEIGHTS = [0, 0.25, 0.5, 0.75, 1];
/** Least relative gain of a backtest error; a smaller one is noise. */
const GAIN_MIN = 0.02;

/** Values before a cutoff that a blended forecast depends on, backtests included. */
export function aggregationLookback({ stride, blocks, day }: TemporalAggregation, context: number): number {
  return Math.max(context, stride * blocks, HISTORY_DAYS_MIN * day) + BACKTEST_DAYS_MAX * day;
}

/** Backtests of a blend: horizon and distances from the cutoff, in values. */
interface BacktestPlan {
  /** Horizon of each backtest. None overlaps the forecast itself. */
  readonly h: number;
  /** Cutoff at which both the fine and the aggregated forecast are made. */
  readonly offsets: readonly number[];
  /**
   * Where the present correction is backtested on a fine forecast of a week ago: the days before a weekend contain no
   * information on the weekend, the last weekend does. Null if the lookback is shorter.
   */
  readonly weekAgo: { readonly offset: number; readonly context: number } | null;
}

export function backtestPlan(h: number, context: number, aggregation: TemporalAggregation): BacktestPlan {
  const { day } = aggregation;
  const backtestH = Math.min(h, day);
  const offsets = new Set([backtestH]);
  for (let days = 1; days <= BACKTEST_DAYS_MAX; days++) offsets.add(days * day);
  const offset = WEEK_DAYS * day;
  const left = aggregationLookback(aggregation, context) - offset;
  const weekAgo = left < HISTORY_DAYS_MIN * day ? null : { offset, context: Math.min(context, left) };
  return { h: backtestH, offsets: [...offsets], weekAgo };
}

/** True if the history before this cutoff is long enough for a backtest. */
export function hasHistory(cutoff: number, { day }: TemporalAggregation): boolean {
  return cutoff >= HISTORY_DAYS_MIN * day;
}

/** True if a forecast of `h` values at this cutoff is blended: the horizon and the history are long enough. */
export function canAggregate(cutoff: number, h: number, { stride, day }: TemporalAggregation): boolean {
  return h >= HORIZON_BLOCKS_MIN * stride && cutoff >= (BACKTEST_DAYS_MAX + HISTORY_DAYS_MIN) * day;
}

/**
 * The aggregated series before `cutoff`: means of whole blocks, the last ending at the cutoff, oldest first; NaN if
 * nothing was observed.
 */
export function aggregateBefore(
  values: ArrayLike<number>,
  cutoff: number,
  { stride, blocks }: TemporalAggregation,
): Float64Array {
  const count = Math.min(blocks, Math.floor(cutoff / stride));
  return Float64Array.from({ length: count }, (_, i) => meanOf(values, cutoff - (count - i) * stride, stride));
}

/**
 * The difference between the aggregated and the fine forecast: block means apart, interpolated linearly between the
 * middles of blocks. It starts at 0 at the cutoff, where the fine forecast is better.
 * @param fine forecast at the sampling frequency
 * @param blocks forecast of the aggregated series over the same horizon
 */
export function correctionOf(fine: Float64Array, blocks: Float64Array, { stride }: TemporalAggregation): Float64Array {
  const starts = Array.from({ length: Math.ceil(fine.length / stride) }, (_, block) => block * stride);
  const apart = starts.map((start, block) => {
    return blocks[block] - meanOf(fine, start, Math.min(stride, fine.length - start));
  });
  return fine.map((_, k) => {
    const next = Math.floor((k + 0.5) / stride + 0.5);
    if (next === apart.length) return apart[next - 1];
    const [from, length] = next === 0 ? [0, stride / 2] : [apart[next - 1], stride];
    const passed = k + 0.5 - (next === 0 ? 0 : (next - 0.5) * stride);
    return from + ((apart[next] - from) * passed) / length;
  });
}

/** One backtest of a correction. */
export interface BacktestForecast {
  readonly actual: ArrayLike<number>;
  readonly fine: Float64Array;
  readonly correction: Float64Array;
}

/**
 * The weight of the correction with the least sum of mean absolute errors over the backtests; the first where the gain
 * is below `gainMin`.
 */
export function blendWeight(
  backtests: readonly BacktestForecast[],
  weights: readonly number[] = BLEND_WEIGHTS,
  gainMin = GAIN_MIN,
): number {
  const errors = weights.map(() => 0);
  for (const backtest of backtests) {
    const ofWeights = weights.map((weight) => meanOf(absoluteErrors(backtest, weight), 0, backtest.fine.length));
    if (ofWeights.some(Number.isNaN)) continue;
    ofWeights.forEach((error, i) => {
      errors[i] += error;
    });
  }
  let best = 0;
  let least = errors[0];
  for (let i = 1; i < weights.length; i++) {
    const error = errors[i] * (1 + gainMin);
    if (error < least) {
      best = i;
      least = error;
    }
  }
  return weights[best];
}

function absoluteErrors({ actual, fine, correction }: BacktestForecast, weight: number): Float64Array {
  return fine.map((value, k) => Math.abs(actual[k] - value - weight * correction[k]));
}

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
