import { withinFloat32 } from './float32.ts';
import type { QuantileForecaster } from './forecast.ts';
import { forecastFolds } from './forecast-folds.ts';
import { quantilesAt } from './quantile-interval.ts';

/** A place in a series from which the next `h` values are forecast; only what lies before the cutoff is seen. */
export interface ForecastPoint {
  readonly values: ArrayLike<number>;
  readonly cutoff: number;
  /** Points of equal time are forecast together; all of a call have one, or none has. */
  readonly time?: number;
}

/** `h` numbers each; NaN where nothing was observed before the cutoff. */
export interface PointForecast {
  /** The median. */
  readonly mean: Float64Array;
  /** One for each probability that was asked for, in that order. */
  readonly quantiles: readonly Float64Array[];
}

export interface ForecastSettings {
  readonly h: number;
  /** Observations before a cutoff that the model may see. */
  readonly context: number;
  readonly probabilities: readonly number[];
}

/**
 * Forecasts from many places at once. A forecast depends on the last `context` values before its cutoff alone: these are given to the model as
 * distances from the first of them that was observed, so that a history which was cut to them gives the same numbers. Of points with a
 * time, it depends on those of equal time, too.
 */
export async function forecastFrom(
  points: readonly ForecastPoint[],
  { h, context, probabilities }: ForecastSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<PointForecast[]> {
  const forecasts = points.map(
    (): PointForecast => ({
      mean: new Float64Array(h).fill(Number.NaN),
      quantiles: probabilities.map(() => new Float64Array(h).fill(Number.NaN)),
    }),
  );
  let levels: readonly number[] = [0.5];
  const together = points[0]?.time !== undefined;
  await forecastFolds(
    {
      timeOf: together ? ({ time }) => time! : undefined,
      folds: points.map((point, index) => ({ ...point, ...contextStart(point, context), index })),
      horizon: h,
      seenBy: ({ cutoff, start }) => cutoff - start,
      fill({ values, start, origin }, target) {
        for (let i = 0; i < target.length; i++) target[i] = withinFloat32(values[start + i]! - origin);
      },
      async forecast(batch) {
        if (probabilities.length === 0) return forecaster.forecast(batch, signal);
        const quantiles = await forecaster.forecastQuantiles(batch, signal);
        levels = quantiles.levels;
        return quantiles.values;
      },
      take({ index, origin }, forecast) {
        if (forecast === null) return;
        const { mean, quantiles } = forecasts[index]!;
        const median = levels.indexOf(0.5);
        const quantileAt = quantilesAt(levels, probabilities);
        for (let k = 0; k < h; k++) {
          mean[k] = origin + forecast[k * levels.length + median]!;
          quantiles.forEach((quantile, i) => {
            quantile[k] = quantileAt(forecast, k * levels.length, i, origin);
          });
        }
      },
    },
    forecaster.limits,
  );
  return forecasts;
}

function contextStart({ values, cutoff }: ForecastPoint, context: number): { start: number; origin: number } {
  const start = Math.max(0, cutoff - context);
  const end = Math.min(cutoff, values.length);
  for (let i = start; i < end; i++) if (!Number.isNaN(values[i]!)) return { start, origin: values[i]! };
  return { start, origin: Number.NaN };
}
