import type { QuantileForecaster } from '../forecast.ts';
import type { PointForecast } from '../forecast-from.ts';
import type { ForecastPoint } from '../forecast-points.ts';
import { forecastSeasons, lookbackOf, type SeasonalSettings } from '../forecast-seasons.ts';
import { forecastInSample } from '../in-sample.ts';
import type { ExogenousVariable } from './design.ts';
import { type ExogenousFit, fitExogenous, totalOf } from './exogenous-fit.ts';

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

export interface ExogenousForecast extends PointForecast {
  /** What each variable adds to the forecast. */
  readonly contributions: readonly Float64Array[];
  readonly weights: Float64Array;
}

export interface ExogenousSettings extends SeasonalSettings {
  /** Whether the effect of the variables is taken away before the model is applied, or is fitted to what the model misses. */
  readonly cleanFirst: boolean;
  /** Steps of the forecasts from within whose residuals are fitted, where the model is applied first. */
  readonly inSampleHorizon: number;
  /** Lets others have a turn, several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

/** Forecasts from many places with exogenous variables. Nothing at or after a cutoff is looked at but what is known ahead. */
export async function forecastWithExogenous(
  points: readonly ExogenousPoint[],
  settings: ExogenousSettings,
  forecaster: QuantileForecaster,
  signal?: AbortSignal,
): Promise<ExogenousForecast[]> {
  const { h, cleanFirst, pause } = settings;
  const targets = cleanFirst ? null : await residualsOf(points, settings, forecaster, signal);
  const fits: ExogenousFit[] = [];
  for (const { past, values, cutoff } of points) {
    fits.push(await fitExogenous(past, targets?.get(values) ?? values, cutoff, pause));
    signal?.throwIfAborted();
  }
  const lookback = lookbackOf(settings);
  const seen = points.map(({ values, cutoff, past, future, time }, i): ForecastPoint => {
    const start = Math.max(0, cutoff - lookback);
    const kept = values.slice(start, cutoff);
    const without = (variables: readonly (ExogenousVariable | null)[]) => {
      const effect = totalOf(fits[i]!.contributions(variables, start, kept.length), kept.length);
      return kept.map((value, k) => value - effect[k]!);
    };
    // What is not known ahead is missed by the forecast, however well its past is known.
    const targets = without(past.map((variable, v) => (future[v] === null ? null : variable)));
    const place = { cutoff: kept.length, ...(time !== undefined && { time }) };
    return { ...place, values: cleanFirst ? without(past) : kept, targets };
  });
  const forecasts = await forecastSeasons(seen, settings, forecaster, signal);
  return forecasts.map(({ mean, quantiles }, i) => {
    const { future, futureStart } = points[i]!;
    const contributions = fits[i]!.contributions(future, futureStart, h);
    const effect = totalOf(contributions, h);
    const moved = (numbers: Float64Array) => numbers.map((value, k) => value + effect[k]!);
    return { mean: moved(mean), quantiles: quantiles.map(moved), contributions, weights: fits[i]!.weights };
  });
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
    series.map((values, i) => [values, forecasts[i]!.residual.fill(Number.NaN, 0, forecasts[i]!.forwardStart)]),
  );
}
