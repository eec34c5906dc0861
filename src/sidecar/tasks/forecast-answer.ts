import { forecastCalibrated, type HorizonForecast } from '../../forecast/calibrated-forecasts.ts';
import { forecastWithExogenous } from '../../forecast/exogenous/exogenous-forecast.ts';
import type { ForecastPoint } from '../../forecast/model-quantiles.ts';
import { forecastMultiResolution, lookbackLength } from '../../forecast/multi-resolution.ts';
import { frequencyProfile, inSampleHorizon } from '../models/frequency-profile.ts';
import { inputSettings, type ServedModel } from '../models/served-models.ts';
import { distinctLevels, intervalsOfQuantiles, probabilitiesOf } from '../wire/interval-keys.ts';
import type { CrossValidationBody, ForecastBody } from '../wire/schema/forecast-schema.ts';
import { joined } from '../wire/wire-answer.ts';
import { alignmentOf, multivariatePoints, type RequestPoint } from './alignment.ts';
import { contributionRows, futureOf, meanWeights, pause, variablesOf } from './exogenous-request.ts';
import { splitSeries } from './split-series.ts';

/** Future values of exogenous variables, by point. */
export interface FutureVariables {
  readonly variables: ReturnType<typeof futureOf>;
  startOf(point: RequestPoint): number;
}

/** The future variables of a forecast: `X_future`. */
export function futureOfForecast({ series, h }: ForecastBody): FutureVariables {
  return { variables: futureOf(series, h), startOf: () => 0 };
}

/** The future variables of a window: all but the historical ones. */
export function futureOfWindows({ series, hist_exog: pastOnly }: CrossValidationBody): FutureVariables {
  const isPastOnly = new Set(pastOnly);
  const variables = (variablesOf(series) ?? []).map((own) =>
    own.map((variable, i) => (isPastOnly.has(i) ? null : variable)),
  );
  return { variables, startOf: ({ cutoff }) => cutoff };
}

/** What is forecast for an answer. */
interface ForecastPlan {
  readonly points: readonly RequestPoint[];
  /** Called only for requests with exogenous variables. */
  readonly future: () => FutureVariables;
  /** One model per point. All take the same context. */
  readonly models: readonly ServedModel[];
  readonly signal: AbortSignal;
}

/** Forecasts of many points as fields of an answer, with exogenous variables where the request has some. */
export async function forecastAnswer(
  body: ForecastBody | CrossValidationBody,
  { points, future, models, signal }: ForecastPlan,
) {
  const { freq, h, feature_contributions: wanted = false, clean_ex_first: cleanFirst = true } = body;
  const levels = distinctLevels(body.level);
  const series = splitSeries(body.series);
  const offsets = alignmentOf(body, models[0]);
  const seen = { h, ...inputSettings(models[0], freq), probabilities: probabilitiesOf(levels) };
  // Multivariate forecasts use no temporal aggregation: a group is forecast once.
  const settings = offsets === undefined ? seen : { ...seen, aggregation: null };
  const numbersOf = (forecasts: readonly HorizonForecast[]) => ({
    mean: joined(forecasts.map(({ mean }) => mean)),
    intervals: intervalsOfQuantiles(levels, forecasts),
  });
  const variables = variablesOf(body.series);
  if (variables === null) {
    if (offsets !== undefined) {
      const { places, asked } = multivariatePoints(series, points, {
        offsets,
        context: settings.context,
        lookback: lookbackLength(settings),
      });
      const forecasts = asked(await forecastCalibrated(places, settings, { forecaster: models[0].forecaster, signal }));
      return { ...numbersOf(forecasts), weights_x: null, feature_contributions: null };
    }
    const places = points.map(({ series: i, cutoff }): ForecastPoint => ({ values: series[i], cutoff }));
    const forecasts = await byModel(places, models, (own, { forecaster }) => {
      return forecastMultiResolution(own, settings, { forecaster, signal });
    });
    return { ...numbersOf(forecasts), weights_x: null, feature_contributions: null };
  }
  const known = future();
  const places = points.map((point) => ({
    values: series[point.series],
    cutoff: point.cutoff,
    ...(offsets && { time: offsets[point.series] + point.cutoff }),
    past: variables[point.series],
    future: known.variables[point.series],
    futureStart: known.startOf(point),
  }));
  const { season } = frequencyProfile(freq);
  const exogenous = { ...settings, cleanFirst, inSampleHorizon: inSampleHorizon(freq), season, pause };
  const forecasts = await byModel(places, models, (own, { forecaster }) => {
    return forecastWithExogenous(own, exogenous, { forecaster, signal });
  });
  const numbers = numbersOf(forecasts);
  const count = variables[0].length;
  return {
    ...numbers,
    weights_x: meanWeights(forecasts, count, body.series.sizes),
    feature_contributions: wanted ? contributionRows(forecasts, numbers.mean, count) : null,
  };
}

/** Runs `make` once per model; results keep the order of the points. */
async function byModel<P, F>(
  places: readonly P[],
  models: readonly ServedModel[],
  make: (places: readonly P[], model: ServedModel) => Promise<F[]>,
): Promise<F[]> {
  const made: F[] = new Array(places.length);
  for (const [model, own] of Map.groupBy(places.keys(), (i) => models[i])) {
    const forecasts = await make(
      own.map((i) => places[i]),
      model,
    );
    own.forEach((i, at) => {
      made[i] = forecasts[at];
    });
  }
  return made;
}
