import type { Static } from 'typebox';
import { intervalsOfQuantiles } from '../../wire/interval-keys.ts';
import type { ForecastAnswer } from '../../wire/schema/tasks/forecast-schema.ts';
import { joined } from '../../wire/wire-answer.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import type { ForecastQuestion } from './forecast-question.ts';
import type { PointForecasts } from './forecast-run.ts';

export function forecastAnswer(question: ForecastQuestion, { forecasts, effects }: PointForecasts) {
  const mean = joined(forecasts.map((forecast) => forecast.mean));
  return {
    ...question.tokens,
    mean,
    intervals: intervalsOfQuantiles(question.levels, forecasts),
    ...exogenousFields(effects, mean, question),
  } satisfies Static<typeof ForecastAnswer>;
}
