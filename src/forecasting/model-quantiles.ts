import { clampToFloat32 } from './float32.ts';
import { forecastFolds } from './folds.ts';
import type { Inference } from './forecaster.ts';

/** A cutoff in a series. The forecast of the next `h` values uses values before the cutoff only. */
export interface ForecastPoint {
  readonly values: ArrayLike<number>;
  readonly cutoff: number;
  /** Time of the cutoff. Points of equal time are a group. Either all points of a call have one, or none. */
  readonly time?: number;
  /** The series the forecasts are evaluated against, where it is not `values`; equally long. */
  readonly targets?: ArrayLike<number>;
}

/** The model's forecast at one point. */
export interface ModelQuantiles {
  /** `h * levels.length` numbers, ascending for each step, as distances from `origin`. */
  readonly values: Float32Array;
  readonly levels: readonly number[];
  readonly origin: number;
}

interface ModelQuantileSettings<P> {
  readonly h: number;
  /** Longest context, in observations. */
  readonly context: number;
  /** `median`: no other quantile is computed. */
  readonly quantiles: 'all' | 'median';
  /** Receives the forecast of each point that has an observation in its context. */
  onForecast(point: P, quantiles: ModelQuantiles): void;
}

/**
 * The model's own quantiles at many points. Contexts are distances from their first observation, so that a history that
 * was cut to the context gives the same numbers. The forecast of a group member also depends on the other members.
 */
export async function forecastModelQuantiles<P extends ForecastPoint>(
  points: readonly P[],
  { h, context, quantiles, onForecast }: ModelQuantileSettings<NoInfer<P>>,
  { forecaster, signal, rowsInFlightMax }: Inference,
): Promise<void> {
  let levels: readonly number[] = [0.5];
  const grouped = points[0]?.time !== undefined;
  await forecastFolds(
    {
      timeOf: grouped ? ({ point }) => point.time! : undefined,
      folds: points.map((point) => contextOf(point, context)),
      horizon: h,
      rowsInFlightMax,
      contextLengthOf: ({ point, start }) => point.cutoff - start,
      fill({ point, start, origin }, target) {
        for (let i = 0; i < target.length; i++) target[i] = clampToFloat32(point.values[start + i] - origin);
      },
      async forecast(batch) {
        if (quantiles === 'median') return forecaster.forecast(batch, signal);
        const made = await forecaster.forecastQuantiles(batch, signal);
        levels = made.levels;
        return made.values;
      },
      accept({ point, start, origin }, values) {
        if (values === null) return;
        carryOn(values, levels, { point, start, origin });
        onForecast(point, { values, levels, origin });
      },
    },
    forecaster.limits,
  );
}

interface Context {
  readonly point: ForecastPoint;
  /** Position of the first value. */
  readonly start: number;
  readonly origin: number;
}

function contextOf<P extends ForecastPoint>(point: P, context: number) {
  const { values, cutoff } = point;
  const start = Math.max(0, cutoff - context);
  const end = Math.min(cutoff, values.length);
  let first = start;
  while (first < end && Number.isNaN(values[first])) first++;
  return { point, start, origin: first < end ? values[first] : Number.NaN };
}

/** Moves the quantiles after a short context, in place, towards what the context itself shows; widths stay. */
function carryOn(quantiles: Float32Array, levels: readonly number[], { point, start, origin }: Context): void {
  const { values, cutoff } = point;
  const positions: number[] = [];
  for (let i = Math.min(cutoff, values.length) - 1; i >= start && positions.length <= SHORT_MAX; i--) {
    if (!Number.isNaN(values[i])) positions.push(i);
  }
  positions.reverse();
  const short = shortForecast({
    values: positions.map((i) => clampToFloat32(values[i] - origin)),
    positions,
    end: cutoff,
  });
  if (short === null) return;
  const median = levels.indexOf(0.5);
  for (let first = 0; first < quantiles.length; first += levels.length) {
    const shift = short.weight * (short.at(first / levels.length) - quantiles[first + median]);
    for (let i = first; i < first + levels.length; i++) quantiles[i] += shift;
  }
}

/** Contexts of fewer than two patches show a network too little: what they show themselves counts. */
const SHORT_MAX = 31;
/** From so many values on a line shows. */
const LINE_MIN = 4;
/** A mean slope of so many standard errors begins to be a line; one of twice as many is one. */
const ERRORS_MIN = 4;
/** Pairs that show a season. */
const LAG_PAIRS_MIN = 3;
/** Sharpness with which the smaller error wins. */
const SHARPNESS = 4;

interface ShortContext {
  /** Observed values, oldest first, and their positions. */
  readonly values: readonly number[];
  readonly positions: readonly number[];
  /** Position of the first step that is forecast. */
  readonly end: number;
}

/** Forecast from a context alone, and its weight against that of a network. */
interface ShortForecast {
  readonly weight: number;
  at(step: number): number;
}

/**
 * Carries on a short context from its last value, along its mean slope as far as that is no chance. This counts as far
 * as the last value was nearer to the next one, in this context, than the mean before it or a value some steps before.
 * A network regresses to the mean of a few values, which costs a line its slope and a random walk a fifth.
 */
function shortForecast({ values, positions, end }: ShortContext): ShortForecast | null {
  const n = values.length;
  if (n < 2 || n > SHORT_MAX) return null;
  const last = values[n - 1];
  const slopes = positions.slice(1).map((position, i) => (values[i + 1] - values[i]) / (position - positions[i]));
  if (slopes.every((slope) => slope === 0)) return null;
  const slope = (last - values[0]) / (positions[n - 1] - positions[0]);
  const line = evidence(slopes, slope);
  const lags = Array.from({ length: Math.max(0, n - LAG_PAIRS_MIN - 1) }, (_, i) => errorAtLag(values, i + 2));
  const ratio = errorAtLag(values, 1) / Math.min(errorOfMean(values), ...lags);
  return {
    weight: Math.max(line, 1 / (1 + ratio ** SHARPNESS)),
    at: (step) => last + line * slope * (end - positions[n - 1] + step),
  };
}

/** Evidence that the mean of the slopes is no chance: 0 to 1. */
function evidence(slopes: readonly number[], mean: number): number {
  if (slopes.length < LINE_MIN - 1) return 0;
  const squares = slopes.reduce((sum, slope) => sum + (slope - mean) ** 2, 0);
  const error = Math.sqrt(squares / (slopes.length - 1) / slopes.length);
  return Math.max(0, Math.min(1, Math.abs(mean) / (ERRORS_MIN * error) - 1));
}

function meanSize(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + Math.abs(number), 0) / numbers.length;
}

function errorAtLag(values: readonly number[], lag: number): number {
  return meanSize(values.slice(lag).map((value, i) => value - values[i]));
}

/** Mean error if each value is forecast by the mean of all before. */
function errorOfMean(values: readonly number[]): number {
  let sum = 0;
  const errors = values.slice(1).map((value, i) => {
    sum += values[i];
    return value - sum / (i + 1);
  });
  return meanSize(errors);
}
