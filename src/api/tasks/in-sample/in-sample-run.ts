import type { Static } from 'typebox';
import { type Calibration, calibrate, deviationAt } from '../../../detection/calibration/calibration.ts';
import { flagResiduals } from '../../../detection/calibration/threshold.ts';
import { forecastInSample, type InSampleForecast } from '../../../forecasting/in-sample.ts';
import { contextsOf, tuneForRequest } from '../../models/tuned-models.ts';
import type { HistoricForecastAnswer, InSampleDetectionAnswer } from '../../wire/schema/tasks/in-sample-schema.ts';
import { flagsOf, intervalsOfDeviations, joined } from '../../wire/wire-answer.ts';
import { attribute, type ForecastEffect } from '../series/attribution.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import { inParts, type RequestPart } from '../series/request-parts.ts';
import { fitSeriesEffects } from '../series/series-effects.ts';
import type { InSampleQuestion } from './in-sample-question.ts';

/** The in-sample forecast of a series with the calibration of its residuals. */
export interface CalibratedForecast extends InSampleForecast {
  readonly calibration: Calibration;
  readonly deviation: number;
  /** The exogenous effect in it; null without variables. */
  readonly effect: ForecastEffect | null;
}

export async function runInSample(question: InSampleQuestion, signal: AbortSignal): Promise<CalibratedForecast[]> {
  const { series, frequency, model, tuning, h, context, contributions, offsets } = question;
  const scope = { series: series.values, horizon: h, contexts: contextsOf(model, frequency) };
  const { forecaster } = await tuneForRequest(tuning, model, { ...scope, signal });
  const effects = await fitSeriesEffects(question, 0, signal);
  const forecastPart = async ({ start, end }: RequestPart, rowsInFlightMax?: number) => {
    const settings = { h, context, offsets, effects: effects?.slice(start, end) };
    const inference = { forecaster, signal, rowsInFlightMax };
    const made = await forecastInSample(series.values.slice(start, end), settings, inference);
    return made.map((forecast) => ({ ...forecast, calibration: calibrate(forecast.residual) }));
  };
  const forecasts =
    offsets === undefined
      ? await inParts(series.values, forecastPart)
      : await forecastPart({ start: 0, end: series.values.length });
  const attributed = (effects ?? []).map((effect, i) => ({
    weights: effect.weights(),
    contributions: contributions === null ? [] : effect.contributions(),
    typical: () => effect.typical(),
    mean: forecasts[i].forecast,
    series: i,
  }));
  const shown = await attribute(attributed, { series, contributions, held: 0, signal });
  return forecasts.map((forecast, i) => {
    return { ...forecast, deviation: deviationAt(forecast.calibration, 0, 0), effect: shown[i] ?? null };
  });
}

/** One forecast per value of the request. */
export function historicForecastAnswer(question: InSampleQuestion, forecasts: readonly CalibratedForecast[]) {
  const mean = joined(forecasts.map(({ forecast }) => forecast));
  const effects = forecasts.flatMap(({ effect }) => (effect === null ? [] : [effect]));
  return {
    ...question.tokens,
    mean,
    sizes: [...question.series.sizes],
    intervals: intervalsOfDeviations(question.levels, forecasts),
    ...exogenousFields(effects, mean, question),
  } satisfies Static<typeof HistoricForecastAnswer>;
}

export function inSampleDetectionAnswer(question: InSampleQuestion, forecasts: readonly CalibratedForecast[]) {
  const [{ value }] = question.levels;
  return {
    ...historicForecastAnswer(question, forecasts),
    anomaly: flagsOf(forecasts.map((forecast) => flagResiduals(forecast.residual, forecast.calibration, value))),
  } satisfies Static<typeof InSampleDetectionAnswer>;
}
