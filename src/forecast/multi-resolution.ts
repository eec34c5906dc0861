import { type ForecastSettings, forecastCalibrated, type HorizonForecast } from './calibrated-forecasts.ts';
import { calibrationContexts, FOLDS_MAX } from './conformal-intervals.ts';
import type { QuantileForecaster } from './forecaster.ts';
import type { ForecastPoint } from './model-quantiles.ts';
import {
  aggregateBefore,
  blendWeight,
  canAggregate,
  correctionOf,
  hasHistory,
  lookback,
  type TemporalAggregation,
  type Trial,
  trialsOf,
} from './temporal-aggregation.ts';

export interface MultiResolutionSettings extends ForecastSettings {
  /** How the model is shown seasons that are longer than its context; null: not at all. */
  readonly aggregation: TemporalAggregation | null;
}

/** Points forecast at a time: with their trials they make full batches, and the blocks of a large request are not held all at once. */
const POINTS_MAX = 128;

/** Values before a cutoff that a forecast depends on: more with intervals, which are calibrated on what came before. */
export function lookbackLength({ context, aggregation, probabilities }: Omit<MultiResolutionSettings, 'h'>): number {
  const calibrated = calibrationContexts(probabilities) * context;
  return aggregation === null ? calibrated : Math.max(calibrated, lookback(aggregation, context));
}

/**
 * Forecasts that one point may need, those of blocks, trials and folds included.
 * @param intervals whether any but the median is wanted
 */
export function forecastsPerPoint(
  { h, context, aggregation }: Omit<MultiResolutionSettings, 'probabilities'>,
  intervals: boolean,
): number {
  const folds = intervals ? FOLDS_MAX : 0;
  if (aggregation === null || !canAggregate(Number.POSITIVE_INFINITY, h, aggregation)) return 1 + folds;
  const { offsets, weekAgo } = trialsOf(h, context, aggregation);
  return folds + 2 * (1 + offsets.length) + (weekAgo === null ? 0 : 1);
}

/**
 * Forecasts as `forecastCalibrated` does, and moves each forecast towards what the same model says about the series in blocks, by as much as would have
 * served the same series just before. Intervals move along, their widths stay. A forecast depends on the last `lookbackLength` values before its
 * cutoff alone, and never on another point.
 */
export async function forecastMultiResolution(
  points: readonly ForecastPoint[],
  settings: MultiResolutionSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<HorizonForecast[]> {
  const { aggregation } = settings;
  if (aggregation === null) return forecastCalibrated(points, settings, forecaster, signal);
  const forecasts: HorizonForecast[] = [];
  for (let start = 0; start < points.length; start += POINTS_MAX) {
    const some = points.slice(start, start + POINTS_MAX);
    forecasts.push(...(await forecastSome(some, { ...settings, aggregation }, forecaster, signal)));
  }
  return forecasts;
}

async function forecastSome(
  points: readonly ForecastPoint[],
  settings: MultiResolutionSettings & { readonly aggregation: TemporalAggregation },
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<HorizonForecast[]> {
  const { h, context, aggregation } = settings;
  const forecasts = await forecastCalibrated(points, settings, forecaster, signal);
  const decimated = Array.from(points.keys()).filter((i) => canAggregate(points[i].cutoff, h, aggregation));
  if (decimated.length === 0) return forecasts;
  const medians = async (from: readonly ForecastPoint[], steps: number, seen: number) => {
    const made = await forecastCalibrated(from, { h: steps, context: seen, probabilities: [] }, forecaster, signal);
    return made.map(({ mean }) => mean);
  };
  const corrections = async (from: readonly ForecastPoint[], single: readonly Float64Array[], steps: number) => {
    const inBlocks = from.map(({ values, cutoff }) => wholeOf(aggregateBefore(values, cutoff, aggregation)));
    const blocks = await medians(inBlocks, Math.ceil(steps / aggregation.stride), aggregation.blocks);
    return single.map((forecast, i) => correctionOf(forecast, blocks[i], aggregation));
  };
  const plan = trialsOf(h, context, aggregation);
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
    if (weekAgo !== null && hasHistory(weekAgo[i].cutoff, aggregation)) {
      trials.push({ actual: after(weekAgo[i], plan.h), single: weekAgoSingle![i], correction });
    }
    forecasts[index] = moved(forecasts[index], correction, blendWeight(trials));
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
function moved({ mean, quantiles }: HorizonForecast, correction: Float64Array, share: number): HorizonForecast {
  const move = (numbers: Float64Array) => numbers.map((value, k) => value + share * correction[k]);
  return { mean: move(mean), quantiles: quantiles.map(move) };
}
