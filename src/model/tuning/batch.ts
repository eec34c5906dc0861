import type { TuningWindow } from './windows.ts';

/** One batch as the train step takes it; rows that no window fills have weight 0. */
export interface TuningBatch {
  /** `rows * context`, right-aligned, 0 where nothing was observed. */
  readonly values: Float32Array;
  readonly observed: Float32Array;
  /** `rows * horizon`. */
  readonly target: Float32Array;
  readonly weight: Float32Array;
  /** `rows * 3`: origin, deviation and mean magnitude. */
  readonly series: Float32Array;
}

export interface BatchShape {
  readonly batch: number;
  readonly context: number;
  readonly horizon: number;
}

/** What losses are measured by, in the units of a series. */
export interface SeriesScale {
  /** Standard deviation; 0 where all values are the same. */
  readonly deviation: number;
  readonly magnitude: number;
}

/** NaN is missing. */
export function scaleOf(values: Float64Array): SeriesScale {
  let [count, sum, magnitude] = [0, 0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    count++;
    sum += value;
    magnitude += Math.abs(value);
  }
  if (count === 0) return { deviation: 0, magnitude: 0 };
  let squares = 0;
  for (const value of values) if (!Number.isNaN(value)) squares += (value - sum / count) ** 2;
  return { deviation: Math.sqrt(squares / count), magnitude: magnitude / count };
}

/**
 * Puts windows into a batch, each as it is varied; a blend misses what either window misses. Each is given as distances from the first value of its
 * context, as forecasts are, and divided by a power of two that brings these near 1. A window with nothing to see or nothing to say keeps weight 0.
 * @param contextOf values before the cutoff that row i may see
 */
export function fillBatch(
  windows: readonly TuningWindow[],
  series: readonly Float64Array[],
  scales: readonly SeriesScale[],
  shape: BatchShape,
  contextOf: (row: number) => number,
): TuningBatch {
  const { batch, context, horizon } = shape;
  const filled: TuningBatch = {
    values: new Float32Array(batch * context),
    observed: new Float32Array(batch * context),
    target: new Float32Array(batch * horizon),
    weight: new Float32Array(batch * horizon),
    series: new Float32Array(batch * 3).fill(1),
  };
  windows.forEach((window, row) => {
    const { seen, ahead } = shownOf(window, series[window.series], Math.min(context, contextOf(row)));
    const place = placeOf(seen, scales[window.series]);
    if (place !== null) fillRow(filled, row, shape, seen, ahead, place);
  });
  return filled;
}

interface Shown {
  readonly seen: Float64Array;
  readonly ahead: Float64Array;
}

function shownOf({ cutoff, end, varied }: TuningWindow, values: Float64Array, context: number): Shown {
  const cut = (at: number, length: number): Shown => ({
    seen: values.subarray(at - length, at),
    ahead: values.subarray(at, at + end - cutoff),
  });
  if (varied === undefined) return cut(cutoff, Math.min(context, cutoff));
  const { shown, other, share, upsideDown } = varied;
  const length = Math.min(Math.ceil(context * shown), cutoff, other);
  const [one, two] = [cut(cutoff, length), cut(other, length)];
  const sign = upsideDown ? -1 : 1;
  const blend = (a: Float64Array, b: Float64Array) => a.map((value, i) => sign * (share * value + (1 - share) * b[i]));
  return { seen: blend(one.seen, two.seen), ahead: blend(one.ahead, two.ahead) };
}

interface Place extends SeriesScale {
  readonly origin: number;
  readonly unit: number;
}

function placeOf(seen: Float64Array, { deviation, magnitude }: SeriesScale): Place | null {
  const origin = seen.find((value) => !Number.isNaN(value));
  if (origin === undefined || deviation === 0) return null;
  let largest = deviation;
  for (const value of seen) if (!Number.isNaN(value)) largest = Math.max(largest, Math.abs(value - origin));
  return { origin, deviation, magnitude, unit: 2 ** Math.floor(Math.log2(largest)) };
}

function fillRow(
  into: TuningBatch,
  row: number,
  { context, horizon }: BatchShape,
  seen: Float64Array,
  ahead: Float64Array,
  { origin, deviation, magnitude, unit }: Place,
): void {
  const first = (row + 1) * context - seen.length;
  seen.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    into.values[first + i] = (value - origin) / unit;
    into.observed[first + i] = 1;
  });
  ahead.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    into.target[row * horizon + i] = (value - origin) / unit;
    into.weight[row * horizon + i] = 1;
  });
  into.series.set([origin / unit, deviation / unit, magnitude / unit], row * 3);
}
