import type { Static } from 'typebox';
import { forecastsPerPoint } from '../../forecast/multi-resolution.ts';
import type { Work } from '../accounts/metering.ts';
import { outputsOfLevels, tokensOf } from '../accounts/token-count.ts';
import { aggregationOf } from '../models/frequency-profile.ts';
import { modelParams, type ServedModels } from '../models/served-models.ts';
import { tuneForRequest } from '../models/tuned-models.ts';
import { distinctLevels } from '../wire/interval-keys.ts';
import { type FieldProblem, fieldProblem, invalidRequest } from '../wire/problem.ts';
import type { ForecastAnswer, ForecastBody } from '../wire/schema/forecast-schema.ts';
import { alignmentProblems } from './alignment.ts';
import { trialForecastsOf } from './exogenous-request.ts';
import { forecastAnswer, futureOfForecast } from './forecast-answer.ts';
import { answerTooLong, intervalProblems, tooManyForecasts } from './request-limits.ts';
import { modelOf, seriesProblems } from './series-request.ts';
import { splitSeries } from './split-series.ts';

/** Throws an HttpProblem for an invalid request. */
export function forecastWork(body: ForecastBody, models: ServedModels): Work {
  const levels = distinctLevels(body.level);
  const outputs = outputsOfLevels(levels.length);
  const predicted = body.series.sizes.length * body.h;
  const seen = { context: Number.POSITIVE_INFINITY, aggregation: aggregationOf(body.freq, Number.POSITIVE_INFINITY) };
  const perSeries = trialForecastsOf(body.series) + forecastsPerPoint({ h: body.h, ...seen }, levels.length > 0);
  const problems = [
    ...seriesProblems(body),
    ...forecastProblems(body),
    ...answerTooLong(predicted * outputs),
    ...tooManyForecasts(body.series.sizes.length * perSeries),
  ];
  const model = modelOf(models, body, problems);
  problems.push(...alignmentProblems(body, model));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const future = (body.series.X_future?.length ?? 0) * predicted;
  const tokens = tokensOf(body, { predicted, outputs, future });
  const run = async (signal: AbortSignal) => {
    const points = body.series.sizes.map((size, series) => ({ series, cutoff: size }));
    const contexts = [modelParams(model, body.freq).inputSize];
    const scope = { series: splitSeries(body.series), horizon: body.h, contexts };
    const tuned = await tuneForRequest(body, model, { ...scope, signal });
    const answer = await forecastAnswer(body, {
      points,
      future: () => futureOfForecast(body),
      models: points.map(() => tuned),
      signal,
    });
    return { ...tokens, ...answer } satisfies Static<typeof ForecastAnswer>;
  };
  return { tokens, run };
}

function forecastProblems({ series: { sizes, X_future: future }, h, level }: ForecastBody): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const values = sizes.length * h;
  future?.forEach((column, i) => {
    if (column.length === values) return;
    const text = `a variable has ${column.length} values, but ${sizes.length} series over h ${h} make ${values}`;
    problems.push(fieldProblem(['body', 'series', 'X_future', i], text));
  });
  return [...problems, ...intervalProblems(level?.length ?? 0, sizes)];
}
