import { type ForecastSettings, forecastCalibrated, type HorizonForecast, shifted } from './calibrated-forecasts.ts';
import { calibrationContexts, FOLDS_MAX } from './conformal-intervals.ts';
import type { Inference } from './forecaster.ts';
import type { ForecastPoint } from './model-quantiles.ts';
import {
  aggregateBefore,
  aggregationLookback,
  type BacktestForecast,
  backtestPlan,
  blendWeight,
  canAggregate,
  correctionOf,
  hasHistory,
  type TemporalAggregation,
} from './temporal-aggregation.ts';

export interface MultiResolutionSettings extends ForecastSettings {
  /** Aggregation for seasons longer than the model's context; null: none. */
  readonly aggregation: TemporalAggregation | null;
  /** A year of months or quarters, in values: forecasts are compared with the last one. */
  readonly year?: number | null;
}

/** Points forecast at a time. With their backtests they fill batches; it bounds the memory of a large request. */
const POINTS_MAX = 128;

/** Values before a cutoff that a forecast depends on. Intervals need more, for calibration. */
export function lookbackLength({ context, aggregation, probabilities }: Omit<MultiResolutionSettings, 'h'>): number {
  const calibrated = calibrationContexts(probabilities) * context;
  return aggregation === null ? calibrated : Math.max(calibrated, aggregationLookback(aggregation, context));
}

/**
 * The most forecasts that one point needs, including aggregated ones, backtests and calibration folds.
 * @param intervals whether other quantiles than the median are requested
 */
export function forecastsPerPoint(
  { h, context, aggregation, year = null }: Omit<MultiResolutionSettings, 'probabilities'>,
  intervals: boolean,
): number {
  const folds = intervals ? FOLDS_MAX : 0;
  const seasons = year === null ? 0 : SEASON_BACKTESTS_MAX;
  if (aggregation === null || !canAggregate(Number.POSITIVE_INFINITY, h, aggregation)) return 1 + folds + seasons;
  const { offsets, weekAgo } = backtestPlan(h, context, aggregation);
  return folds + 2 * (1 + offsets.length) + (weekAgo === null ? 0 : 1);
}

/**
 * Forecasts as `forecastCalibrated`, blended with the forecast of the temporally aggregated series. The blend weight is
 * chosen by backtests on the same series. Intervals are shifted with the median; their widths stay. A forecast depends
 * on the last `lookbackLength` values before its cutoff, and on no other point.
 */
export async function forecastMultiResolution(
  points: readonly ForecastPoint[],
  settings: MultiResolutionSettings,
  inference: Inference,
): Promise<HorizonForecast[]> {
  const { aggregation, year = null } = settings;
  if (aggregation === null) {
    const made = await forecastCalibrated(points, settings, inference);
    if (year === null || points[0]?.time !== undefined) return made;
    return blendSeasonal(points, made, { ...settings, season: year }, inference);
  }
  const forecasts: HorizonForecast[] = [];
  for (let start = 0; start < points.length; start += POINTS_MAX) {
    const some = points.slice(start, start + POINTS_MAX);
    forecasts.push(...(await forecastBlended(some, { ...settings, aggregation }, inference)));
  }
  return forecasts;
}

async function forecastBlended(
  points: readonly ForecastPoint[],
  settings: MultiResolutionSettings & { readonly aggregation: TemporalAggregation },
  inference: Inference,
): Promise<HorizonForecast[]> {
  const { h, context, aggregation } = settings;
  const forecasts = await forecastCalibrated(points, settings, inference);
  const blended = Array.from(points.keys()).filter((i) => canAggregate(points[i].cutoff, h, aggregation));
  if (blended.length === 0) return forecasts;
  const medians = async (from: readonly ForecastPoint[], steps: number, contextLength: number) => {
    const made = await forecastCalibrated(from, { h: steps, context: contextLength, probabilities: [] }, inference);
    return made.map(({ mean }) => mean);
  };
  const corrections = async (from: readonly ForecastPoint[], fine: readonly Float64Array[], steps: number) => {
    const aggregated = from.map(({ values, cutoff }) => endOf(aggregateBefore(values, cutoff, aggregation)));
    const blocks = await medians(aggregated, Math.ceil(steps / aggregation.stride), aggregation.blocks);
    return fine.map((forecast, i) => correctionOf(forecast, blocks[i], aggregation));
  };
  const plan = backtestPlan(h, context, aggregation);
  const present = blended.map((i) => points[i]);
  const past = present.flatMap((point) => plan.offsets.map((offset) => earlier(point, offset)));
  const pastFine = await medians(past, plan.h, context);
  const pastCorrections = await corrections(past, pastFine, plan.h);
  const presentCorrections = await corrections(
    present,
    blended.map((i) => forecasts[i].mean),
    h,
  );
  const weekAgo = plan.weekAgo && present.map((point) => earlier(point, plan.weekAgo!.offset));
  const weekAgoFine = weekAgo && (await medians(weekAgo, plan.h, plan.weekAgo!.context));
  blended.forEach((index, i) => {
    const correction = presentCorrections[i];
    if (!correction.every(Number.isFinite)) return;
    const backtests = plan.offsets.map((_, t): BacktestForecast => {
      const at = i * plan.offsets.length + t;
      return { actual: actualsOf(past[at], plan.h), fine: pastFine[at], correction: pastCorrections[at] };
    });
    if (weekAgo !== null && hasHistory(weekAgo[i].cutoff, aggregation)) {
      backtests.push({ actual: actualsOf(weekAgo[i], plan.h), fine: weekAgoFine![i], correction });
    }
    forecasts[index] = shifted(forecasts[index], correction, blendWeight(backtests));
  });
  return forecasts;
}

/** The cutoff `offset` values earlier in the same series, at least 0. */
function earlier({ values, cutoff }: ForecastPoint, offset: number): ForecastPoint {
  return { values, cutoff: Math.max(0, cutoff - offset) };
}

function actualsOf({ values, cutoff }: ForecastPoint, steps: number): Float64Array {
  return Float64Array.from({ length: steps }, (_, k) => values[cutoff + k]);
}

function endOf(values: Float64Array): ForecastPoint {
  return { values, cutoff: values.length };
}

/** The newest seasons that decide. Each costs a forecast. */
const SEASON_BACKTESTS_MAX = 4;
/** Fewer seasons may agree by chance. */
const BACKTESTS_MIN = 2;
/** The weight where a context of years is too short for that, if it shows a season. */
const UNTESTED_WEIGHT = 0.5;
/** Weights of the seasonal reference. */
const WEIGHTS = [0, 0.5, 1];
/** A weight must reduce the error of the backtests to 85 %. */
const GAIN_MIN = 1 / 0.85 - 1;
/** Largest growth from one season to the next. */
const GROWTH_MAX = 2;
const GROWING_SEASONS_MAX = 2;

interface ReferenceSettings {
  readonly h: number;
  readonly context: number;
  /** A year, in values. */
  readonly season: number;
}

/**
 * Moves forecasts towards the last season, grown by half of its growth, where that was better in the last seasons of
 * the context. A network that saw few years underrates steady growth.
 */
async function blendSeasonal(
  points: readonly ForecastPoint[],
  forecasts: readonly HorizonForecast[],
  { h, context, season }: ReferenceSettings,
  inference: Inference,
): Promise<HorizonForecast[]> {
  const histories = points.map(({ values, cutoff }) => {
    const start = Math.max(0, cutoff - context);
    return Float64Array.from({ length: cutoff - start }, (_, i) => values[start + i]);
  });
  const isTested = histories.map((values) => values.length >= 2 * season);
  const past = histories.flatMap((values, index) => {
    const cutoffs = isTested[index] ? backtestCutoffs(values.length, season) : [];
    return cutoffs.map((cutoff) => ({ values, cutoff, index }));
  });
  const backtests = await forecastCalibrated(past, { h: season, context, probabilities: [] }, inference);
  const backtestsOf = Map.groupBy(past.keys(), (i) => past[i].index);
  const weightOf = (index: number) => {
    const own = backtestsOf.get(index);
    if (own === undefined) return isTested[index] ? showsSeason(histories[index], season) * UNTESTED_WEIGHT : 0;
    const made = own.map((i) => {
      const { values, cutoff } = past[i];
      const { mean: fine } = backtests[i];
      const reference = seasonalReference(values.subarray(0, cutoff), season, season);
      return { actual: values.subarray(cutoff), fine, correction: reference.map((value, k) => value - fine[k]) };
    });
    return blendWeight(made, WEIGHTS, GAIN_MIN);
  };
  return forecasts.map((forecast, index) => {
    const reference = seasonalReference(histories[index], season, h);
    return shifted(
      forecast,
      reference.map((value, k) => value - forecast.mean[k] || 0),
      weightOf(index),
    );
  });
}

/** At least half of the history stays, and two seasons. */
function backtestCutoffs(length: number, season: number): number[] {
  const least = Math.max(2 * season, length / 2);
  const cutoffs = Array.from({ length: SEASON_BACKTESTS_MAX }, (_, i) => length - (i + 1) * season);
  const possible = cutoffs.filter((cutoff) => cutoff >= least);
  return possible.length < BACKTESTS_MIN ? [] : possible;
}

/** 1 if values a season apart are nearer than others in a season; else 0, such as for a random walk. */
function showsSeason(values: Float64Array, season: number): 0 | 1 {
  const distanceAt = (lag: number) => {
    let [sum, count] = [0, 0];
    for (let i = lag; i < values.length; i++) {
      const distance = Math.abs(values[i] - values[i - lag]);
      if (Number.isNaN(distance)) continue;
      sum += distance;
      count++;
    }
    return sum / count;
  };
  const others = Array.from({ length: season - 1 }, (_, i) => distanceAt(i + 1));
  return distanceAt(season) < others.reduce((sum, each) => sum + each, 0) / others.length ? 1 : 0;
}

/**
 * The last season, grown by half of its growth over the one before: a factor of positive values, else a distance. It
 * grows for GROWING_SEASONS_MAX at most, because the backtests are of one.
 */
function seasonalReference(values: Float64Array, season: number, h: number): Float64Array {
  const last = values.subarray(-season);
  const before = values.subarray(-2 * season, -season);
  const [sum, sumBefore] = [last, before].map((own) => own.reduce((total, value) => total + value, 0));
  const isPositive = values.every((value) => !(value <= 0));
  const ratio = Math.max(1 / GROWTH_MAX, Math.min(GROWTH_MAX, sum / sumBefore));
  const step = (sum - sumBefore) / season / 2;
  return Float64Array.from({ length: h }, (_, k) => {
    const seasons = Math.min(GROWING_SEASONS_MAX, Math.floor(k / season) + 1);
    const value = last[k % season];
    return isPositive ? value * ((1 + ratio) / 2) ** seasons : value + step * seasons;
  });
}
