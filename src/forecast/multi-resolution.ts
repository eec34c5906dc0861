import { type ForecastSettings, forecastFrom, type PointForecast } from './calibrated-forecasts.ts';
import { contextsSeen, FOLDS_MAX } from './conformal-intervals.ts';
import type { QuantileForecaster } from './forecaster.ts';
import type { ForecastPoint } from './point-forecasts.ts';
import {
  blocksBefore,
  correctionOf,
  type Decimation,
  isDecimated,
  lookback,
  seesEnough,
  shareOf,
  type Trial,
  trialsOf,
} from './temporal-aggregation.ts';

export interface SeasonalSettings extends ForecastSettings {
  /** How the model is shown seasons that are longer than its context; null: not at all. */
  readonly decimation: Decimation | null;
}

/** Points forecast at a time: with their trials they make full batches, and the blocks of a large request are not held all at once. */
const POINTS_MAX = 128;

/** Values before a cutoff that a forecast depends on: more with intervals, which are calibrated on what came before. */
export function lookbackOf({ context, decimation, probabilities }: Omit<SeasonalSettings, 'h'>): number {
  const calibrated = contextsSeen(probabilities) * context;
  return decimation === null ? calibrated : Math.max(calibrated, lookback(decimation, context));
}

/**
 * Forecasts that one point may need, those of blocks, trials and folds included.
 * @param intervals whether any but the median is wanted
 */
export function forecastsPerPoint(
  { h, context, decimation }: Omit<SeasonalSettings, 'probabilities'>,
  intervals: boolean,
): number {
  const folds = intervals ? FOLDS_MAX : 0;
  if (decimation === null || !isDecimated(Number.POSITIVE_INFINITY, h, decimation)) return 1 + folds;
  const { offsets, weekAgo } = trialsOf(h, context, decimation);
  return folds + 2 * (1 + offsets.length) + (weekAgo === null ? 0 : 1);
}

/**
 * Forecasts as `forecastFrom` does, and moves each forecast towards what the same model says about the series in blocks, by as much as would have
 * served the same series just before. Intervals move along, their widths stay. A forecast depends on the last `lookbackOf` values before its
 * cutoff alone, and never on another point.
 */
export async function forecastSeasons(
  points: readonly ForecastPoint[],
  settings: SeasonalSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<PointForecast[]> {
  const { decimation } = settings;
  if (decimation === null) return forecastFrom(points, settings, forecaster, signal);
  const forecasts: PointForecast[] = [];
  for (let start = 0; start < points.length; start += POINTS_MAX) {
    const some = points.slice(start, start + POINTS_MAX);
    forecasts.push(...(await forecastSome(some, { ...settings, decimation }, forecaster, signal)));
  }
  return forecasts;
}

async function forecastSome(
  points: readonly ForecastPoint[],
  settings: SeasonalSettings & { readonly decimation: Decimation },
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<PointForecast[]> {
  const { h, context, decimation } = settings;
  const forecasts = await forecastFrom(points, settings, forecaster, signal);
  const decimated = Array.from(points.keys()).filter((i) => isDecimated(points[i].cutoff, h, decimation));
  if (decimated.length === 0) return forecasts;
  const medians = async (from: readonly ForecastPoint[], steps: number, seen: number) => {
    const made = await forecastFrom(from, { h: steps, context: seen, probabilities: [] }, forecaster, signal);
    return made.map(({ mean }) => mean);
  };
  const corrections = async (from: readonly ForecastPoint[], single: readonly Float64Array[], steps: number) => {
    const inBlocks = from.map(({ values, cutoff }) => wholeOf(blocksBefore(values, cutoff, decimation)));
    const blocks = await medians(inBlocks, Math.ceil(steps / decimation.stride), decimation.blocks);
    return single.map((forecast, i) => correctionOf(forecast, blocks[i], decimation));
  };
  const plan = trialsOf(h, context, decimation);
  const present = decimated.map((i) => points[i]);
  const past = present.flatMap((point) => plan.offsets.map((offset) => before(point, offset)));
  const pastSingle = await medians(past, plan.h, context);
  const pastCorrections = await corrections(past, pastSingle, plan.h);
  const presentCorrections = await corrections(
    present,
    decimated.map((i) => forecasts[i].mean),
    h,
  );
  const weekAgo = plan.weekAgo && present.map((point) => before(point, plan.weekAgo!.offset));
  const weekAgoSingle = weekAgo && (await medians(weekAgo, plan.h, plan.weekAgo!.context));
  decimated.forEach((index, i) => {
    const correction = presentCorrections[i];
    if (!correction.every(Number.isFinite)) return;
    const trials = plan.offsets.map((_, t): Trial => {
      const at = i * plan.offsets.length + t;
      return { actual: after(past[at], plan.h), single: pastSingle[at], correction: pastCorrections[at] };
    });
    if (weekAgo !== null && seesEnough(weekAgo[i].cutoff, decimation)) {
      trials.push({ actual: after(weekAgo[i], plan.h), single: weekAgoSingle![i], correction });
    }
    forecasts[index] = moved(forecasts[index], correction, shareOf(trials));
  });
  return forecasts;
}

/** The place in the same series that lies `offset` values earlier; before its beginning nothing was observed. */
function before({ values, cutoff }: ForecastPoint, offset: number): ForecastPoint {
  return { values, cutoff: Math.max(0, cutoff - offset) };
}

function after({ values, cutoff }: ForecastPoint, steps: number): Float64Array {
  return Float64Array.from({ length: steps }, (_, k) => values[cutoff + k]);
}

function wholeOf(values: Float64Array): ForecastPoint {
  return { values, cutoff: values.length };
}

/** The forecast, its quantiles with it, moved by a share of the correction. */
function moved({ mean, quantiles }: PointForecast, correction: Float64Array, share: number): PointForecast {
  const move = (numbers: Float64Array) => numbers.map((value, k) => value + share * correction[k]);
  return { mean: move(mean), quantiles: quantiles.map(move) };
}
