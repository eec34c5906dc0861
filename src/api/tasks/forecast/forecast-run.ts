import { setImmediate as pause } from 'node:timers/promises';
import type { Static } from 'typebox';
import { forecastCalibrated, type HorizonForecast } from '../../../forecasting/calibrated-forecasts.ts';
import type { ExogenousVariable } from '../../../forecasting/exogenous/design.ts';
import { forecastWithExogenous } from '../../../forecasting/exogenous/exogenous-forecast.ts';
import { withGroupContext } from '../../../forecasting/group-context.ts';
import type { ForecastPoint } from '../../../forecasting/model-quantiles.ts';
import { forecastMultiResolution, lookbackLength } from '../../../forecasting/multi-resolution.ts';
import { inSampleHorizon } from '../../models/frequency-profile.ts';
import { modelParams, type ServedModel } from '../../models/served-models.ts';
import { tuneForRequest } from '../../models/tuned-models.ts';
import type { ForecastAnswer } from '../../wire/schema/tasks/forecast-schema.ts';
import { intervalsOfQuantiles, joined } from '../../wire/wire-answer.ts';
import { attribute, type ForecastEffect } from '../series/attribution.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import type { ForecastQuestion } from './forecast-question.ts';

/** A cutoff in one of the series of a request. */
export interface RequestPoint {
  readonly series: number;
  readonly cutoff: number;
}

export interface PointForecasts {
  readonly forecasts: readonly HorizonForecast[];
  /** The exogenous effects in them; none without variables. */
  readonly effects: readonly ForecastEffect[];
}

/** The exogenous variables of each series over a horizon, and where in them the horizon of a point starts. */
interface FutureVariables {
  readonly variables: readonly (readonly (ExogenousVariable | null)[])[];
  startOf(point: RequestPoint): number;
}

export async function runForecast(question: ForecastQuestion, signal: AbortSignal): Promise<PointForecasts> {
  const { series, model, frequency, tuning, settings } = question;
  const { h } = settings;
  const scope = { series: series.values, horizon: h, contexts: [modelParams(model, frequency).inputSize] };
  const tuned = await tuneForRequest(tuning, model, { ...scope, signal });
  const points = series.sizes.map((cutoff, i) => ({ series: i, cutoff }));
  const future = () => ({ variables: series.future(h), startOf: () => 0 });
  return forecastPoints(question, { points, future, models: points.map(() => tuned), signal });
}

interface PointsPlan {
  readonly points: readonly RequestPoint[];
  /** Called only where the series have exogenous variables. */
  readonly future: () => FutureVariables;
  /** One model per point. All take the same context. */
  readonly models: readonly ServedModel[];
  /** Values at the end of each series that are forecast. */
  readonly held?: number;
  readonly signal: AbortSignal;
}

/** Forecasts many points: as a group, with exogenous variables, or each alone. */
export async function forecastPoints(question: ForecastQuestion, plan: PointsPlan): Promise<PointForecasts> {
  const { series, settings, offsets } = question;
  const { points, models, signal } = plan;
  if (series.variables !== null) return forecastWithVariables(question, plan, series.variables);
  if (offsets !== undefined) return { forecasts: await forecastGroup(question, offsets, plan), effects: [] };
  const places = points.map(({ series: i, cutoff }): ForecastPoint => ({ values: series.values[i], cutoff }));
  const forecasts = await byModel(places, models, (own, { forecaster }) => {
    return forecastMultiResolution(own, settings, { forecaster, signal });
  });
  return { forecasts, effects: [] };
}

async function forecastWithVariables(
  { series, settings, offsets, frequency, cleanFirst, contributions }: ForecastQuestion,
  { points, future, models, held = 0, signal }: PointsPlan,
  variables: readonly (readonly ExogenousVariable[])[],
): Promise<PointForecasts> {
  const known = future();
  const places = points.map((point) => ({
    values: series.values[point.series],
    cutoff: point.cutoff,
    ...(offsets && { time: offsets[point.series] + point.cutoff }),
    past: variables[point.series],
    future: known.variables[point.series],
    futureStart: known.startOf(point),
  }));
  const { season } = frequency;
  const exogenous = { ...settings, cleanFirst, inSampleHorizon: inSampleHorizon(frequency), season, pause };
  const forecasts = await byModel(places, models, (own, { forecaster }) => {
    return forecastWithExogenous(own, exogenous, { forecaster, signal });
  });
  const attributed = forecasts.map((forecast, i) => ({ ...forecast, series: points[i].series }));
  return { forecasts, effects: await attribute(attributed, { series, contributions, held, signal }) };
}

/**
 * Forecasts the points together with the contexts of the other group members. No series contributes more than its
 * lookback before its first point, so that truncation by clients changes nothing.
 */
async function forecastGroup(
  { series: { values }, settings }: ForecastQuestion,
  offsets: readonly number[],
  { points, models, signal }: PointsPlan,
): Promise<HorizonForecast[]> {
  const lookback = lookbackLength(settings);
  const starts = values.map(({ length }) => length);
  for (const point of points) starts[point.series] = Math.min(starts[point.series], point.cutoff);
  const floors = starts.map((start) => Math.max(0, start - lookback));
  const seen = values.map((history, i) => history.subarray(floors[i]));
  const withMembers = withGroupContext(
    points.map(({ series, cutoff }) => ({ series, cutoff: cutoff - floors[series] })),
    {
      lengths: seen.map(({ length }) => length),
      offsets: offsets.map((offset, i) => offset + floors[i]),
      context: settings.context,
    },
  );
  const places = withMembers.map(({ series, cutoff, time }) => ({ values: seen[series], cutoff, time }));
  const forecasts = await forecastCalibrated(places, settings, { forecaster: models[0].forecaster, signal });
  const requested = new Array<HorizonForecast>(points.length);
  for (const [i, place] of withMembers.entries()) {
    if (place.requested !== null) requested[place.requested] = forecasts[i];
  }
  return requested;
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

export function forecastAnswer(question: ForecastQuestion, { forecasts, effects }: PointForecasts) {
  const mean = joined(forecasts.map((forecast) => forecast.mean));
  return {
    ...question.tokens,
    mean,
    intervals: intervalsOfQuantiles(question.levels, forecasts),
    ...exogenousFields(effects, mean, question),
  } satisfies Static<typeof ForecastAnswer>;
}
