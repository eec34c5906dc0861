import { CONTEXT_MIN } from './context-length.ts';
import type { Inference } from './forecaster.ts';
import { type GroupSeries, withGroupContext } from './group-context.ts';
import { type ForecastPoint, forecastModelQuantiles, type ModelQuantiles } from './model-quantiles.ts';

/** Effects of exogenous variables on a history that is forecast at many cutoffs. Arrays are as long as the series. */
export interface ExogenousEffects {
  /** The effect that is subtracted from the series before the model is applied; null if none is. */
  readonly subtracted: Float64Array | null;
  /**
   * The effect that is added to the forecasts of the model.
   * @param residuals of the model, NaN if there is no forecast
   */
  added(residuals: Float64Array): Promise<Float64Array>;
  /** Relative weights of the variables; available after `added`. */
  weights(): Float64Array;
  /** Contribution of each variable to the forecasts; available after `added`. */
  contributions(): readonly Float64Array[];
  /** Contribution of each variable at its mean, or at its most frequent category; available after `added`. */
  typical(): readonly number[];
}

/** In-sample forecasts of a history. Arrays are as long as the series. */
export interface InSampleForecast {
  /** NaN if the context has no observation. */
  readonly forecast: Float64Array;
  /** Observation - forecast; NaN if either is missing. */
  readonly residual: Float64Array;
  /** From this position on forecasts use earlier values; before it, later ones. */
  readonly forwardStart: number;
}

interface InSampleSettings {
  readonly h: number;
  readonly context: number;
  /** Effects of exogenous variables, one for each series. */
  readonly effects?: readonly ExogenousEffects[] | undefined;
  /** Position of the first value of each series on a common time axis; undefined: each is forecast alone. */
  readonly offsets?: readonly number[] | undefined;
}

/**
 * Forecasts every value of a history from other values: from earlier ones, and at the beginning, where these are too
 * few, from later ones (backcasting, as Box and Jenkins start their residuals). Members of a group are backcast alone.
 * @param series oldest first, NaN if missing
 */
export async function forecastInSample(
  series: readonly ArrayLike<number>[],
  { h, context, effects, offsets }: InSampleSettings,
  inference: Inference,
): Promise<InSampleForecast[]> {
  const forecasts = series.map(({ length }) => new Float64Array(length).fill(Number.NaN));
  const points: InSamplePoint[] = series.flatMap((values, i) => {
    const subtracted = effects?.[i]?.subtracted;
    const input = subtracted ? subtracted.map((effect, position) => values[position] - effect) : values;
    const reversed = Float64Array.from(input).reverse();
    return inSampleSegments(values.length, h, forwardStartOf(values, h)).map((segment) => {
      return { ...segment, series: i, values: segment.backwards ? reversed : input, into: forecasts[i] };
    });
  });
  const settings = { h, context, quantiles: 'median' } as const;
  const onForecast = ({ into, cutoff, steps, backwards }: InSamplePoint, { values, origin }: ModelQuantiles) => {
    const [first, direction] = backwards ? [into.length - 1 - cutoff, -1] : [cutoff, 1];
    for (let k = 0; k < steps; k++) into[first + direction * k] = origin + values[k];
  };
  const forecastAll = (some: readonly InSamplePoint[]) =>
    forecastModelQuantiles(some, { ...settings, onForecast }, inference);
  if (offsets === undefined) await forecastAll(points);
  else {
    await forecastAll(points.filter(({ backwards }) => backwards));
    const forward = points.filter(({ backwards }) => !backwards);
    await forecastAll(withMembers(forward, { lengths: series.map(({ length }) => length), offsets, context }));
  }
  const results: InSampleForecast[] = [];
  for (const [i, values] of series.entries()) {
    const ofModel = forecasts[i];
    const residualOf = (forecast: Float64Array) => forecast.map((centre, position) => values[position] - centre);
    const added = await effects?.[i]?.added(residualOf(ofModel));
    const forecast = added ? ofModel.map((centre, position) => centre + added[position]) : ofModel;
    results.push({ forecast, residual: residualOf(forecast), forwardStart: forwardStartOf(values, h) });
  }
  return results;
}

/**
 * A forecast within a history, of which the first `steps` are used. Backwards, positions count from the end of the
 * series.
 */
interface InSampleSegment {
  readonly cutoff: number;
  readonly steps: number;
  readonly backwards: boolean;
}

interface InSamplePoint extends ForecastPoint, InSampleSegment {
  readonly series: number;
  /** The forecasts of its series. */
  readonly into: Float64Array;
}

/** The points with the contexts of the other members of the group. Of what is forecast for these, nothing is used. */
function withMembers(points: readonly InSamplePoint[], group: GroupSeries): InSamplePoint[] {
  const ofSeries = new Map(points.map((point) => [point.series, point]));
  return withGroupContext(points, group).flatMap(({ series, cutoff, time, requested }) => {
    const point = requested === null ? ofSeries.get(series) : points[requested];
    return point === undefined ? [] : [{ ...point, cutoff, time, steps: requested === null ? 0 : point.steps }];
  });
}

/** Fewest observations before a forward forecast, in horizons. */
const CONTEXT_HORIZONS_MIN = 4;

/**
 * First position that is forecast from earlier values: after the fewest observations, or half of those of a shorter
 * series. Missing values do not count, because a forecast learns nothing from them.
 */
function forwardStartOf(values: ArrayLike<number>, h: number): number {
  let observed = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) observed++;
  let needed = Math.max(1, Math.min(Math.max(CONTEXT_MIN, CONTEXT_HORIZONS_MIN * h), Math.floor(observed / 2)));
  let position = 0;
  while (position < values.length - 1 && needed > 0) if (!Number.isNaN(values[position++])) needed--;
  return position;
}

/**
 * Cutoffs n - h, n - 2h, ... down to `first`, one more for the remaining steps, then backwards to the beginning.
 */
export function inSampleSegments(length: number, h: number, first: number): InSampleSegment[] {
  const segments: InSampleSegment[] = [];
  if (first < 1) return segments;
  let end = length;
  for (; end - h > first; end -= h) segments.push({ cutoff: end - h, steps: h, backwards: false });
  segments.push({ cutoff: first, steps: end - first, backwards: false });
  for (let left = first; left > 0; left -= h) {
    segments.push({ cutoff: length - left, steps: Math.min(h, left), backwards: true });
  }
  return segments;
}
