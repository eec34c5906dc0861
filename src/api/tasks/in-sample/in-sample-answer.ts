import type { Static } from 'typebox';
import { flagResiduals } from '../../../detection/calibration/threshold.ts';
import { intervalsOfDeviations } from '../../wire/interval-keys.ts';
import type { HistoricForecastAnswer, InSampleDetectionAnswer } from '../../wire/schema/tasks/in-sample-schema.ts';
import { flagsOf, joined } from '../../wire/wire-answer.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import type { InSampleQuestion } from './in-sample-question.ts';
import type { CalibratedForecast } from './in-sample-run.ts';

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
