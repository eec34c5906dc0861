import type { HorizonForecast } from '../calibrated-forecasts.ts';
import type { Inference } from '../forecaster.ts';
import { forecastInSample } from '../in-sample.ts';
import type { ForecastPoint } from '../model-quantiles.ts';
import { forecastMultiResolution, lookbackLength, type MultiResolutionSettings } from '../multi-resolution.ts';
import type { ExogenousVariable } from './design.ts';
import { type ExogenousFit, fitExogenous, sumContributions, zeroEffectFit } from './exogenous-fit.ts';

/** Backtest windows of an effect. Each costs two forecasts. */
const BACKTESTS_MAX = 4;
/**
 * An effect is dropped where its backtest error, relative to that without the effect, reaches this. A gain is not
 * required: rare events such as promotions may be absent from the last windows.
 */
const ERROR_RATIO_MAX = 1.1;
/** Points forecast at a time. With their backtests they fill batches; it bounds the memory of a large request. */
const POINTS_MAX = 128;
/** Forecasts of the backtests of one point, in addition to its own forecast. */
export const BACKTEST_FORECASTS_MAX = 2 * BACKTESTS_MAX;

/** A cutoff in a series, with the exogenous variables. */
interface ExogenousPoint {
  readonly values: Float64Array;
  readonly cutoff: number;
  /** Aligned with the values; only rows before the cutoff are used. */
  readonly past: readonly ExogenousVariable[];
  /** The same variables over the horizon, from row `futureStart`; null for one without known future values. */
  readonly future: readonly (ExogenousVariable | null)[];
  readonly futureStart: number;
  /** Time of the cutoff. Points of equal time are a group. */
  readonly time?: number;
}

export interface ExogenousForecast extends HorizonForecast {
  /** Contribution of each variable to the forecast. */
  readonly contributions: readonly Float64Array[];
  /** Relative weights of the variables. */
  readonly weights: Float64Array;
  /** Contribution that each variable would have at its historical mean, or at its most frequent category. */
  typical(): readonly number[];
}

interface ExogenousSettings extends MultiResolutionSettings {
  /** True if the effect is subtracted before the model is applied, or fitted to the residuals of the model. */
  readonly cleanFirst: boolean;
  /** Horizon of the in-sample forecasts whose residuals are fitted, where the model is applied first. */
  readonly inSampleHorizon: number;
  /** Values in a season. */
  readonly season: number;
  /** Yields to the event loop; called several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Forecasts with exogenous variables. After a cutoff only their known future values are used. An effect that fails its
 * backtest just before the cutoff is dropped.
 */
export async function forecastWithExogenous(
  points: readonly ExogenousPoint[],
  settings: ExogenousSettings,
  inference: Inference,
): Promise<ExogenousForecast[]> {
  const residuals = settings.cleanFirst ? null : await residualsOf(points, settings, inference);
  const fit = (point: ExogenousPoint, end: number): Promise<ExogenousFit> => {
    inference.signal?.throwIfAborted();
    const season = settings.cleanFirst ? settings.season : null;
    const target = residuals?.get(point.values) ?? point.values;
    return fitExogenous(point.past, target, { end, season, pause: settings.pause });
  };
  const forecasts = new Map<ExogenousPoint, ExogenousForecast>();
  for (const part of partsOf(points)) {
    const backtests: FittedPoint[][] = [];
    for (const point of part) {
      const windows = backtestWindows(point, settings.h);
      const before = windows.length === 0 ? null : await fit(point, windows.at(-1)!.cutoff);
      backtests.push(windows.map((window) => ({ ...window, fit: before! })));
    }
    const passed = await passBacktests(backtests, settings, inference);
    const fitted: FittedPoint[] = [];
    for (const [i, point] of part.entries()) {
      fitted.push({ ...point, fit: passed[i] ? await fit(point, point.cutoff) : zeroEffectFit(point.past) });
    }
    const made = await forecastFitted(fitted, settings, inference);
    for (const [i, point] of part.entries()) forecasts.set(point, made[i]);
  }
  return points.map((point) => forecasts.get(point)!);
}

/** Groups stay separate: the same series at another time has another fit, and a group contains each series once. */
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
  inference: Inference,
): Promise<ExogenousForecast[]> {
  const { h, cleanFirst } = settings;
  const lookback = lookbackLength(settings);
  const adjusted = points.map(({ values, cutoff, past, future, time, fit }): ForecastPoint => {
    const start = Math.max(0, cutoff - lookback);
    const history = values.slice(start, cutoff);
    const without = (variables: readonly (ExogenousVariable | null)[]) => {
      const effect = sumContributions(fit.contributions(variables, start, history.length), history.length);
      return history.map((value, k) => value - effect[k]);
    };
    // Effects without known future values stay in the targets: the forecast cannot contain them.
    const targets = without(past.map((variable, v) => (future[v] === null ? null : variable)));
    const place = { cutoff: history.length, ...(time !== undefined && { time }) };
    return { ...place, values: cleanFirst ? without(past) : history, targets };
  });
  const forecasts = await forecastMultiResolution(adjusted, settings, inference);
  return forecasts.map(({ mean, quantiles }, i) => {
    const { past, cutoff, future, futureStart, fit } = points[i];
    const contributions = fit.contributions(future, futureStart, h);
    const effect = sumContributions(contributions, h);
    const shifted = (numbers: Float64Array) => numbers.map((value, k) => value + effect[k]);
    const typical = () =>
      fit.typical(
        past.map((variable, v) => future[v] && variable),
        cutoff,
      );
    return { mean: shifted(mean), quantiles: quantiles.map(shifted), contributions, weights: fit.weights, typical };
  });
}

/** The last windows before a point, the newest first. At least half of the history stays as training data. */
function backtestWindows(point: ExogenousPoint, h: number): ExogenousPoint[] {
  const { cutoff, time, past } = point;
  const future = past.map((variable, v) => (point.future[v] === null ? null : variable));
  const count = Math.min(BACKTESTS_MAX, Math.floor(cutoff / 2 / h));
  return Array.from({ length: count }, (_, i) => {
    const back = (i + 1) * h;
    const at = { cutoff: cutoff - back, futureStart: cutoff - back, ...(time !== undefined && { time: time - back }) };
    return { ...point, future, ...at };
  });
}

/**
 * Rolling cross-validation: whether the mean absolute error with the effects is below ERROR_RATIO_MAX times that
 * without. An effect that ended is in the fit of the whole history, but not in the last windows. Without backtests
 * effects pass.
 */
async function passBacktests(
  backtests: readonly (readonly FittedPoint[])[],
  settings: ExogenousSettings,
  inference: Inference,
): Promise<boolean[]> {
  const all = backtests.flat();
  const medianOnly = { ...settings, probabilities: [], aggregation: null, year: null };
  const errorsOf = async (points: readonly FittedPoint[]) => {
    const made = await forecastFitted(points, medianOnly, inference);
    return made.map(({ mean }, i) => errorOf(mean, points[i]));
  };
  const withEffects = await errorsOf(all);
  const without = await errorsOf(all.map((window) => ({ ...window, fit: zeroEffectFit(window.past) })));
  let at = 0;
  return backtests.map(({ length }) => {
    const sumOf = (errors: readonly number[]) => errors.slice(at, at + length).reduce((sum, error) => sum + error, 0);
    const passes = length === 0 || sumOf(withEffects) < ERROR_RATIO_MAX * sumOf(without);
    at += length;
    return passes;
  });
}

/** Sum of absolute errors over the observed values. */
function errorOf(mean: Float64Array, { values, cutoff }: ExogenousPoint): number {
  return mean.reduce((sum, value, k) => sum + (Math.abs(values[cutoff + k] - value) || 0), 0);
}

/** In-sample residuals of the model without effects, where it forecasts from earlier values. */
async function residualsOf(
  points: readonly ExogenousPoint[],
  { inSampleHorizon, context }: ExogenousSettings,
  inference: Inference,
): Promise<Map<Float64Array, Float64Array>> {
  const series = [...new Set(points.map(({ values }) => values))];
  const forecasts = await forecastInSample(series, { h: inSampleHorizon, context }, inference);
  return new Map(
    series.map((values, i) => [values, forecasts[i].residual.fill(Number.NaN, 0, forecasts[i].forwardStart)]),
  );
}
