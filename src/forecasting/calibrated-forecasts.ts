import { calibratedDeviates, conformityScores } from './conformal-intervals.ts';
import type { Inference } from './forecaster.ts';
import { type ForecastPoint, forecastModelQuantiles } from './model-quantiles.ts';
import { quantileFunction } from './quantiles.ts';

/** The forecast of one horizon: `h` numbers each; NaN if the context has no observation. */
export interface HorizonForecast {
  /** The median. */
  readonly mean: Float64Array;
  /** In the order of the requested probabilities. */
  readonly quantiles: readonly Float64Array[];
}

export interface ForecastSettings {
  readonly h: number;
  /** Longest context, in observations. */
  readonly context: number;
  /** Probabilities of the requested quantiles. None costs least. */
  readonly probabilities: readonly number[];
}

/**
 * Forecasts with conformal intervals. The median is the model's own and depends on the last `context` values before the
 * cutoff. The other quantiles are calibrated on the model's errors at earlier cutoffs of the same series; they depend
 * on the last three times `context` values.
 */
export async function forecastCalibrated(
  points: readonly ForecastPoint[],
  { h, context, probabilities }: ForecastSettings,
  inference: Inference,
): Promise<HorizonForecast[]> {
  const forecasts = points.map((point, index) => ({
    ...point,
    index,
    mean: new Float64Array(h).fill(Number.NaN),
    quantiles: probabilities.map(() => new Float64Array(h).fill(Number.NaN)),
  }));
  const calibrated = probabilities.length > 0;
  const scoresOf = calibrated ? await conformityScores(points, { h, context }, inference) : () => new Float32Array(0);
  await forecastModelQuantiles(
    forecasts,
    {
      h,
      context,
      quantiles: calibrated ? 'all' : 'median',
      onForecast({ index, mean, quantiles }, { levels, values, origin }) {
        const median = levels.indexOf(0.5);
        const quantileAt = quantileFunction(levels, calibratedDeviates(probabilities, scoresOf(index), h));
        for (let k = 0; k < h; k++) {
          mean[k] = origin + values[k * levels.length + median];
          quantiles.forEach((quantile, i) => {
            quantile[k] = quantileAt(values, k * levels.length, i, origin);
          });
        }
      },
    },
    inference,
  );
  return forecasts.map(({ mean, quantiles }) => ({ mean, quantiles }));
}

/** Adds a share of a correction to the median and the quantiles. */
export function shifted(
  { mean, quantiles }: HorizonForecast,
  correction: Float64Array,
  weight: number,
): HorizonForecast {
  const shift = (numbers: Float64Array) => numbers.map((value, k) => value + weight * correction[k]);
  return { mean: shift(mean), quantiles: quantiles.map(shift) };
}
