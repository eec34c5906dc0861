import { forecastCalibrated } from './calibrated-forecasts.ts';
import { CONTEXT_MIN } from './context-length.ts';
import type { ExogenousEffects } from './exogenous-effects.ts';
import type { QuantileForecaster } from './forecaster.ts';
import type { ForecastPoint } from './model-quantiles.ts';

/** A history forecast from within. Arrays are as long as the series. */
export interface InSampleForecast {
  /** NaN where there was nothing to forecast from. */
  readonly forecast: Float64Array;
  /** Observation - forecast; NaN where either is missing. */
  readonly residual: Float64Array;
  /** From here on forecasts come from earlier values. */
  readonly forwardStart: number;
}

/**
 * Forecasts every value of a history from values beside it that do not hold it: from what came before it, and at the beginning, where too little
 * did, backwards from what came after it (backcasting, as Box and Jenkins start their residuals).
 * @param series oldest first, NaN where missing
 * @param effects of exogenous variables, one for each series
 */
export async function forecastInSample(
  series: readonly ArrayLike<number>[],
  { h, context }: { readonly h: number; readonly context: number },
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
  effects?: readonly ExogenousEffects[],
): Promise<InSampleForecast[]> {
  const forecasts = series.map(({ length }) => new Float64Array(length).fill(Number.NaN));
  const points: (ForecastPoint & InSampleSegment & { readonly into: Float64Array })[] = series.flatMap((values, i) => {
    const cleaned = effects?.[i]?.cleaned;
    const seen = cleaned ? cleaned.map((effect, position) => values[position] - effect) : values;
    const reversed = Float64Array.from(seen).reverse();
    return inSampleSegments(values.length, h).map((part) => {
      return { ...part, values: part.backwards ? reversed : seen, into: forecasts[i] };
    });
  });
  const made = await forecastCalibrated(points, { h, context, probabilities: [] }, forecaster, signal);
  points.forEach(({ into, cutoff, steps, backwards }, i) => {
    const { mean } = made[i];
    for (let k = 0; k < steps; k++) into[backwards ? into.length - 1 - cutoff - k : cutoff + k] = mean[k];
  });
  const whole: InSampleForecast[] = [];
  for (const [i, values] of series.entries()) {
    const alone = forecasts[i];
    const missed = (forecast: Float64Array) => forecast.map((centre, position) => values[position] - centre);
    const ahead = await effects?.[i]?.ahead(missed(alone));
    const forecast = ahead ? alone.map((centre, position) => centre + ahead[position]) : alone;
    whole.push({ forecast, residual: missed(forecast), forwardStart: forwardStartOf(values.length, h) });
  }
  return whole;
}

/** One forecast of a history: its first `steps` count. Backwards, positions are counted from the end of the series. */
interface InSampleSegment {
  readonly cutoff: number;
  readonly steps: number;
  readonly backwards: boolean;
}

/** Horizons that must have come before a value that is forecast from them. */
const HORIZONS_SEEN_MIN = 4;

/** Enough came before this position to forecast it from there; half of a series that is too short for that. */
function forwardStartOf(length: number, h: number): number {
  return Math.min(Math.max(CONTEXT_MIN, HORIZONS_SEEN_MIN * h), Math.floor(length / 2));
}

/** Cutoffs n - h, n - 2h, ... as far as enough came before; one more for what is left there; then backwards to the beginning. */
export function inSampleSegments(length: number, h: number): InSampleSegment[] {
  const first = forwardStartOf(length, h);
  const parts: InSampleSegment[] = [];
  if (first < 1) return parts;
  let end = length;
  for (; end - h > first; end -= h) parts.push({ cutoff: end - h, steps: h, backwards: false });
  parts.push({ cutoff: first, steps: end - first, backwards: false });
  for (let left = first; left > 0; left -= h) {
    parts.push({ cutoff: length - left, steps: Math.min(h, left), backwards: true });
  }
  return parts;
}
