import { calibratedDeviates, conformityScores } from './conformal-intervals.ts';
import type { QuantileForecaster } from './forecaster.ts';
import { type ForecastPoint, forecastModelQuantiles } from './model-quantiles.ts';
import { quantileFunction } from './quantiles.ts';

/** `h` numbers each; NaN where nothing was observed before the cutoff. */
export interface HorizonForecast {
  /** The median. */
  readonly mean: Float64Array;
  /** One for each probability that was asked for, in that order. */
  readonly quantiles: readonly Float64Array[];
}

export interface ForecastSettings {
  readonly h: number;
  /** Observations before a cutoff that the model may see. */
  readonly context: number;
  /** Of the quantiles that are wanted; none costs least. */
  readonly probabilities: readonly number[];
}

/**
 * Forecasts from many places at once. The median depends on the last `context` values before its cutoff alone, the other quantiles on the last
 * three times as many: they are the model's, calibrated on what it missed in the same series before. The median is always the model's own.
 */
export async function forecastCalibrated(
  points: readonly ForecastPoint[],
  { h, context, probabilities }: ForecastSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<HorizonForecast[]> {
  const forecasts = points.map((point, index) => ({
    ...point,
    index,
    mean: new Float64Array(h).fill(Number.NaN),
    quantiles: probabilities.map(() => new Float64Array(h).fill(Number.NaN)),
  }));
  const wanted = probabilities.length > 0;
  const scoresOf = wanted
    ? await conformityScores(points, { h, context }, forecaster, signal)
    : () => new Float32Array(0);
  const settings = { h, context, quantiles: wanted ? 'all' : 'median' } as const;
  await forecastModelQuantiles(forecasts, settings, forecaster, signal, ({ index, mean, quantiles }, model) => {
    const { levels, values, origin } = model;
    const median = levels.indexOf(0.5);
    const quantileAt = quantileFunction(levels, calibratedDeviates(probabilities, scoresOf(index), h));
    for (let k = 0; k < h; k++) {
      mean[k] = origin + values[k * levels.length + median];
      quantiles.forEach((quantile, i) => {
        quantile[k] = quantileAt(values, k * levels.length, i, origin);
      });
    }
  });
  return forecasts.map(({ mean, quantiles }) => ({ mean, quantiles }));
}
