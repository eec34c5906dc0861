import type { Static } from 'typebox';
import { flagInSample } from '../../../detector/calibration/in-sample-detection.ts';
import { intervalsOfDeviations } from '../../wire/interval-keys.ts';
import type { HistoricForecastAnswer, InSampleDetectionAnswer } from '../../wire/schema/in-sample-schema.ts';
import { flagsOf, joined } from '../../wire/wire-answer.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import type { InSampleQuestion } from './in-sample-question.ts';
import type { CalibratedForecast } from './in-sample-run.ts';

export function inSampleDetectionAnswer(question: InSampleQuestion, forecasts: readonly CalibratedForecast[]) {
  const [level] = question.levels;
  const anomaly = flagsOf(forecasts.map((forecast) => flagInSample(forecast, forecast.calibration, level.value)));
  return {
    ...question.tokens,
    ...inSampleForecastFields(question, forecasts),
    anomaly,
  } satisfies Static<typeof InSampleDetectionAnswer>;
}

export function historicForecastAnswer(question: InSampleQuestion, forecasts: readonly CalibratedForecast[]) {
  return {
    ...question.tokens,
    ...inSampleForecastFields(question, forecasts),
  } satisfies Static<typeof HistoricForecastAnswer>;
}

/** The common fields of in-sample answers, one forecast per value of the request. */
export function inSampleForecastFields(
  { series, levels, contributions }: InSampleQuestion,
  forecasts: readonly CalibratedForecast[],
) {
  const mean = joined(forecasts.map(({ forecast }) => forecast));
  const effects = forecasts.flatMap(({ effect }) => (effect === null ? [] : [effect]));
  return {
    mean,
    sizes: [...series.sizes],
    intervals: intervalsOfDeviations(levels, forecasts),
    ...exogenousFields(effects, { series, mean, contributions }),
  };
}
