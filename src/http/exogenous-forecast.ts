import { forecastWithExogenous } from '../detector/exogenous/exogenous-forecast.ts';
import type { QuantileForecaster } from '../detector/forecast.ts';
import {
  type ForecastPoint,
  type ForecastSettings,
  forecastFrom,
  type PointForecast,
} from '../detector/forecast-from.ts';
import { forecastSeasons } from '../detector/forecast-seasons.ts';
import { alignmentOf, type Places, placesTogether } from './alignment.ts';
import { contributionRows, futureOf, pause, variablesOf, weightsOf } from './exogenous-request.ts';
import { inSampleHorizon } from './frequency-profile.ts';
import type { CrossValidationBody, ForecastBody } from './schema/forecast.ts';
import { type ServedModel, seenOf } from './served-models.ts';
import { splitSeries } from './split-series.ts';
import { distinctLevels, intervalsOfQuantiles, probabilitiesOf } from './wire/interval-keys.ts';
import { joined } from './wire/wire-answer.ts';

/** A cutoff in one of the series of a request. */
export interface RequestPoint {
  readonly series: number;
  readonly cutoff: number;
}

/** Where the horizon of a point lies among what is known ahead. */
export interface KnownAhead {
  readonly variables: ReturnType<typeof futureOf>;
  startOf(point: RequestPoint): number;
}

/** What a forecast knows ahead: `X_future`. */
export function aheadOfForecast({ series, h }: ForecastBody): KnownAhead {
  return { variables: futureOf(series, h), startOf: () => 0 };
}

/** What a window knows ahead: the variables themselves, but for those that only have a past. */
export function aheadOfWindows({ series, hist_exog: pastOnly }: CrossValidationBody): KnownAhead {
  const variables = (variablesOf(series) ?? []).map((own) =>
    own.map((variable, i) => (pastOnly?.includes(i) ? null : variable)),
  );
  return { variables, startOf: ({ cutoff }) => cutoff };
}

/** The part of an answer that holds forecasts from many places, with exogenous variables where the request has some. */
export async function forecastAnswer(
  body: ForecastBody | CrossValidationBody,
  points: readonly RequestPoint[],
  ahead: () => KnownAhead,
  model: ServedModel,
  signal: AbortSignal,
) {
  const { freq, h, feature_contributions: wanted = false, clean_ex_first: cleanFirst = true } = body;
  const levels = distinctLevels(body.level);
  const series = splitSeries(body.series);
  const { forecaster } = model;
  const settings = { h, ...seenOf(model, freq), probabilities: probabilitiesOf(levels) };
  const numbersOf = (forecasts: readonly PointForecast[]) => ({
    mean: joined(forecasts.map(({ mean }) => mean)),
    intervals: intervalsOfQuantiles(levels, forecasts),
  });
  const variables = variablesOf(body.series);
  const offsets = alignmentOf(body, model);
  if (variables === null) {
    const forecasts =
      offsets === undefined
        ? await forecastSeasons(alone(series, points), settings, forecaster, signal)
        : await forecastGroup(placesTogether(series, points, offsets, settings.context), settings, forecaster, signal);
    return { ...numbersOf(forecasts), weights_x: null, feature_contributions: null };
  }
  const known = ahead();
  const forecasts = await forecastWithExogenous(
    points.map((point) => ({
      values: series[point.series],
      cutoff: point.cutoff,
      ...(offsets && { time: offsets[point.series] + point.cutoff }),
      past: variables[point.series],
      future: known.variables[point.series],
      futureStart: known.startOf(point),
    })),
    { ...settings, cleanFirst, inSampleHorizon: inSampleHorizon(freq), pause },
    forecaster,
    signal,
  );
  const numbers = numbersOf(forecasts);
  const count = variables[0].length;
  return {
    ...numbers,
    weights_x: weightsOf(forecasts, count),
    feature_contributions: wanted ? contributionRows(forecasts, numbers.mean, count) : null,
  };
}

function alone(series: readonly Float64Array[], points: readonly RequestPoint[]): ForecastPoint[] {
  return points.map((point) => ({ values: series[point.series], cutoff: point.cutoff }));
}

async function forecastGroup(
  { places, asked }: Places,
  settings: ForecastSettings,
  forecaster: QuantileForecaster,
  signal: AbortSignal,
): Promise<PointForecast[]> {
  return asked(await forecastFrom(places, settings, forecaster, signal));
}
