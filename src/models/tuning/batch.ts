import type { TuningWindow } from './windows.ts';

/** Inputs of one train step. Rows without a window have weight 0. */
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

/** Scale of a series, in its units; losses are relative to it. */
interface SeriesScale {
  /** Standard deviation; 0 for a constant series. */
  readonly deviation: number;
  /** Mean absolute value. */
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

interface BatchSource {
  readonly series: readonly Float64Array[];
  readonly scales: readonly SeriesScale[];
  readonly shape: BatchShape;
  contextOf(row: number): number;
}

/**
 * Fills a batch with windows and applies their augmentation. A mixture is missing where either window is. As in a
 * forecast, values are distances from the first observation of the context; they are divided by a power of two that
 * brings them near 1. A window without an observed context keeps weight 0, and so does a constant series.
 */
export function fillBatch(
  windows: readonly TuningWindow[],
  { series, scales, shape, contextOf }: BatchSource,
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
    const example = exampleOf(window, series[window.series], Math.min(context, contextOf(row)));
    const normalisation = normalisationOf(example.context, scales[window.series]);
    if (normalisation !== null) fillRow(filled, { row, shape, ...example, ...normalisation });
  });
  return filled;
}

interface Example {
  readonly context: Float64Array;
  readonly target: Float64Array;
}

function exampleOf({ cutoff, end, augmentation }: TuningWindow, values: Float64Array, contextMax: number): Example {
  const cut = (at: number, length: number): Example => ({
    context: values.subarray(at - length, at),
    target: values.subarray(at, at + end - cutoff),
  });
  if (augmentation === undefined) return cut(cutoff, Math.min(contextMax, cutoff));
  const { contextShare, mixCutoff, mixWeight, negated } = augmentation;
  const length = Math.min(Math.ceil(contextMax * contextShare), cutoff, mixCutoff);
  const [one, two] = [cut(cutoff, length), cut(mixCutoff, length)];
  const sign = negated ? -1 : 1;
  const mix = (a: Float64Array, b: Float64Array) =>
    a.map((value, i) => sign * (mixWeight * value + (1 - mixWeight) * b[i]));
  return { context: mix(one.context, two.context), target: mix(one.target, two.target) };
}

interface Normalisation extends SeriesScale {
  readonly origin: number;
  readonly unit: number;
}

function normalisationOf(context: Float64Array, { deviation, magnitude }: SeriesScale): Normalisation | null {
  const origin = context.find((value) => !Number.isNaN(value));
  if (origin === undefined || deviation === 0) return null;
  let largest = deviation;
  for (const value of context) if (!Number.isNaN(value)) largest = Math.max(largest, Math.abs(value - origin));
  return { origin, deviation, magnitude, unit: 2 ** Math.floor(Math.log2(largest)) };
}

interface RowPlace {
  readonly row: number;
  readonly shape: BatchShape;
}

function fillRow(
  into: TuningBatch,
  { row, shape, context, target, origin, deviation, magnitude, unit }: RowPlace & Example & Normalisation,
): void {
  const first = (row + 1) * shape.context - context.length;
  context.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    into.values[first + i] = (value - origin) / unit;
    into.observed[first + i] = 1;
  });
  target.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    into.target[row * shape.horizon + i] = (value - origin) / unit;
    into.weight[row * shape.horizon + i] = 1;
  });
  into.series.set([origin / unit, deviation / unit, magnitude / unit], row * 3);
}
