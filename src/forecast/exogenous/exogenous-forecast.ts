import type { HorizonForecast } from '../calibrated-forecasts.ts';
import type { QuantileForecaster } from '../forecaster.ts';
import { forecastInSample } from '../in-sample.ts';
import type { ForecastPoint } from '../model-quantiles.ts';
import { forecastMultiResolution, lookbackLength, type MultiResolutionSettings } from '../multi-resolution.ts';
import type { ExogenousVariable } from './design.ts';
import { type ExogenousFit, fitExogenous, sumContributions, zeroEffect } from './exogenous-fit.ts';

/** Windows in which it is tried whether an effect does harm. Each costs two forecasts. */
const TRIALS_MAX = 4;
/**
 * Error of the trials with an effect, relative to without, from which on it is dropped: where it does harm. What matters seldom, such as promotions,
 * may have no part in the last windows, and cannot show a gain there.
 */
const ERROR_MAX = 1.1;
/** Points forecast at a time: with their trials they make full batches, and what the trials see of a large request is not held all at once. */
const POINTS_MAX = 128;
/** What the trials of one point need, beside its own forecast. */
export const BACKTEST_FORECASTS_MAX = 2 * TRIALS_MAX;

/** A place in a series from which it is forecast, with what is known beside it. */
export interface ExogenousPoint {
  readonly values: Float64Array;
  readonly cutoff: number;
  /** Aligned with the values; only what lies before the cutoff is looked at. */
  readonly past: readonly ExogenousVariable[];
  /** The same variables, the horizon beginning at row `futureStart`; null for one that is not known ahead. */
  readonly future: readonly (ExogenousVariable | null)[];
  readonly futureStart: number;
  /** Points of equal time are forecast together. */
  readonly time?: number;
}

export interface ExogenousForecast extends HorizonForecast {
  /** What each variable adds to the forecast. */
  readonly contributions: readonly Float64Array[];
  readonly weights: Float64Array;
}

export interface ExogenousSettings extends MultiResolutionSettings {
  /** Whether the effect of the variables is taken away before the model is applied, or is fitted to what the model misses. */
  readonly cleanFirst: boolean;
  /** Steps of the forecasts from within whose residuals are fitted, where the model is applied first. */
  readonly inSampleHorizon: number;
  /** Values in a season. */
  readonly season: number;
  /** Lets others have a turn, several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Forecasts from many places with exogenous variables. Nothing at or after a cutoff is looked at but what is known ahead. An effect that would have done
 * harm to a forecast of what came just before the cutoff is taken for none.
 */
export async function forecastWithExogenous(
  points: readonly ExogenousPoint[],
  settings: ExogenousSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<ExogenousForecast[]> {
  const missed = settings.cleanFirst ? null : await residualsOf(points, settings, forecaster, signal);
  const fit = (point: ExogenousPoint, end: number): Promise<ExogenousFit> => {
    signal?.throwIfAborted();
    const season = settings.cleanFirst ? settings.season : null;
    return fitExogenous(point.past, missed?.get(point.values) ?? point.values, end, { season, pause: settings.pause });
  };
  const forecasts = new Map<ExogenousPoint, ExogenousForecast>();
  for (const together of partsOf(points)) {
    const trials: FittedPoint[][] = [];
    for (const point of together) {
      const tried = trialsOf(point, settings.h);
      const before = tried.length === 0 ? null : await fit(point, tried.at(-1)!.cutoff);
      trials.push(tried.map((trial) => ({ ...trial, fit: before! })));
    }
    const harmless = await harmlessIn(trials, settings, forecaster, signal);
    const fitted: FittedPoint[] = [];
    for (const [i, point] of together.entries()) {
      fitted.push({ ...point, fit: harmless[i] ? await fit(point, point.cutoff) : zeroEffect(point.past) });
    }
    const made = await forecastFitted(fitted, settings, forecaster, signal);
    for (const [i, point] of together.entries()) forecasts.set(point, made[i]);
  }
  return points.map((point) => forecasts.get(point)!);
}

/** Groups by themselves: another fit cleaned what the same series shows at another time, and a group holds each series once. */
function partsOf(points: readonly ExogenousPoint[]): (readonly ExogenousPoint[])[] {
  if (points[0]?.time !== undefined) return [...Map.groupBy(points, ({ time }) => time).values()];
  return Array.from({ length: Math.ceil(points.length / POINTS_MAX) }, (_, i) => {
    return points.slice(i * POINTS_MAX, (i + 1) * POINTS_MAX);
  });
}

interface FittedPoint extends ExogenousPoint {
  readonly fit: ExogenousFit;
}

async function forecastFitted(
  points: readonly FittedPoint[],
  settings: ExogenousSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<ExogenousForecast[]> {
  const { h, cleanFirst } = settings;
  const lookback = lookbackLength(settings);
  const seen = points.map(({ values, cutoff, past, future, time, fit }): ForecastPoint => {
    const start = Math.max(0, cutoff - lookback);
    const kept = values.slice(start, cutoff);
    const without = (variables: readonly (ExogenousVariable | null)[]) => {
      const effect = sumContributions(fit.contributions(variables, start, kept.length), kept.length);
      return kept.map((value, k) => value - effect[k]);
    };
    // What is not known ahead is missed by the forecast, however well its past is known.
    const targets = without(past.map((variable, v) => (future[v] === null ? null : variable)));
    const place = { cutoff: kept.length, ...(time !== undefined && { time }) };
    return { ...place, values: cleanFirst ? without(past) : kept, targets };
  });
  const forecasts = await forecastMultiResolution(seen, settings, forecaster, signal);
  return forecasts.map(({ mean, quantiles }, i) => {
    const { future, futureStart, fit } = points[i];
    const contributions = fit.contributions(future, futureStart, h);
    const effect = sumContributions(contributions, h);
    const moved = (numbers: Float64Array) => numbers.map((value, k) => value + effect[k]);
    return { mean: moved(mean), quantiles: quantiles.map(moved), contributions, weights: fit.weights };
  });
}

/** The last windows before a point, the newest first, as far as half of what came before it is left to learn from. */
function trialsOf(point: ExogenousPoint, h: number): ExogenousPoint[] {
  const { cutoff, time, past } = point;
  const future = past.map((variable, v) => (point.future[v] === null ? null : variable));
  const count = Math.min(TRIALS_MAX, Math.floor(cutoff / 2 / h));
  return Array.from({ length: count }, (_, i) => {
    const back = (i + 1) * h;
    const at = { cutoff: cutoff - back, futureStart: cutoff - back, ...(time !== undefined && { time: time - back }) };
    return { ...point, future, ...at };
  });
}

/**
 * Rolling cross-validation: whether forecasts with the effects come as near to what was observed as without, by mean absolute errors. An effect that
 * ended is in the whole history, and helps nobody ahead of it. Without trials effects are believed.
 */
async function harmlessIn(
  trials: readonly (readonly FittedPoint[])[],
  settings: ExogenousSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<boolean[]> {
  const all = trials.flat();
  const single = { ...settings, probabilities: [], aggregation: null };
  const errorsOf = async (points: readonly FittedPoint[]) => {
    const made = await forecastFitted(points, single, forecaster, signal);
    return made.map(({ mean }, i) => errorOf(mean, points[i]));
  };
  const withEffects = await errorsOf(all);
  const without = await errorsOf(all.map((trial) => ({ ...trial, fit: zeroEffect(trial.past) })));
  let at = 0;
  return trials.map(({ length }) => {
    const sumOf = (errors: readonly number[]) => errors.slice(at, at + length).reduce((sum, error) => sum + error, 0);
    const harmless = length === 0 || sumOf(withEffects) < ERROR_MAX * sumOf(without);
    at += length;
    return harmless;
  });
}

/** The sum of absolute errors; what was not observed has none. */
function errorOf(mean: Float64Array, { values, cutoff }: ExogenousPoint): number {
  return mean.reduce((sum, value, k) => sum + (Math.abs(values[cutoff + k] - value) || 0), 0);
}

/** What the model alone misses in each series, where it forecasts from earlier values. */
async function residualsOf(
  points: readonly ExogenousPoint[],
  { inSampleHorizon, context }: ExogenousSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<Map<Float64Array, Float64Array>> {
  const series = [...new Set(points.map(({ values }) => values))];
  const forecasts = await forecastInSample(series, { h: inSampleHorizon, context }, forecaster, signal);
  return new Map(
    series.map((values, i) => [values, forecasts[i].residual.fill(Number.NaN, 0, forecasts[i].forwardStart)]),
  );
}
