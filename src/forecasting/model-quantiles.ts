import { clampToFloat32 } from './float32.ts';
import { forecastFolds } from './folds.ts';
import type { Inference } from './forecaster.ts';
import { SHORT_MAX, shortForecast } from './short-context.ts';

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
