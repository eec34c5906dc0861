import type { Static } from 'typebox';
import { intervalsOfQuantiles } from '../../wire/interval-keys.ts';
import type { ForecastAnswer } from '../../wire/schema/forecast-schema.ts';
import { joined } from '../../wire/wire-answer.ts';
import { exogenousFields } from '../series/exogenous-fields.ts';
import type { ForecastQuestion } from './forecast-question.ts';
import type { PointForecasts } from './forecast-run.ts';

export function forecastAnswer(question: ForecastQuestion, results: PointForecasts) {
  return { ...question.tokens, ...forecastFields(question, results) } satisfies Static<typeof ForecastAnswer>;
}

/** The fields that forecasts and windows of cross-validation share. */
export function forecastFields({ series, levels, contributions }: ForecastQuestion, results: PointForecasts) {
  const { forecasts, effects } = results;
  const mean = joined(forecasts.map((forecast) => forecast.mean));
  return {
    mean,
    intervals: intervalsOfQuantiles(levels, forecasts),
    ...exogenousFields(effects, { series, mean, contributions }),
  };
}
