import { forecastCalibrated, type HorizonForecast, shifted } from './calibrated-forecasts.ts';
import type { Inference } from './forecaster.ts';
import type { ForecastPoint } from './model-quantiles.ts';
import { blendWeight } from './temporal-aggregation.ts';

/** The newest seasons that decide. Each costs a forecast. */
export const SEASON_BACKTESTS_MAX = 4;
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
export async function blendSeasonal(
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
