import type { Static } from 'typebox';
import { forecastsPerPoint } from '../../../forecast/multi-resolution.ts';
import { charged, type Work } from '../../accounts/metering.ts';
import { outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import { aggregationOf } from '../../models/frequency-profile.ts';
import { modelParams, type ServedModels } from '../../models/served-models.ts';
import { modelsOf, tunedFor } from '../../models/tuned-models.ts';
import { alignmentProblems } from '../../tasks/alignment.ts';
import { trialForecastsOf } from '../../tasks/exogenous-request.ts';
import { aheadOfForecast, forecastAnswer } from '../../tasks/forecast-answer.ts';
import { answerTooLong, tooManyForecasts } from '../../tasks/request-limits.ts';
import { modelOf, seriesProblems } from '../../tasks/series-request.ts';
import { splitSeries } from '../../tasks/split-series.ts';
import { KEY_NEEDED, seriesAnswers } from '../../wire/answer-schemas.ts';
import { ForecastAnswer, type ForecastBody, ForecastRequest } from '../../wire/forecast-schema.ts';
import { distinctLevels } from '../../wire/interval-keys.ts';
import { type FieldProblem, fieldProblem, invalidRequest } from '../../wire/problem.ts';
import { sendAnswer } from '../../wire/wire-answer.ts';
import type { AppServices } from '../app-services.ts';
import { clientGone } from '../client-gone.ts';
import type { App } from '../fastify-app.ts';
import { warnBeyondHorizon } from '../horizon-warning.ts';
import { callerOf } from '../require-key.ts';

/** Fewer values say too little about how far forecasts miss. */
const INTERVAL_SAMPLES_MIN = 8;

export function addForecast(app: App, services: AppServices): void {
  app.post(
    '/v2/forecast',
    {
      schema: {
        summary: 'Forecasts what follows each series',
        security: KEY_NEEDED,
        body: ForecastRequest,
        response: seriesAnswers(ForecastAnswer),
      },
    },
    async (request, reply) => {
      const models = await modelsOf(services, request);
      const work = forecastWork(request.body, models);
      warnBeyondHorizon(reply, request.body, models);
      return sendAnswer(reply, await charged(services.calls, callerOf(request), work, clientGone(reply)));
    },
  );
}

/** Throws an HttpProblem for what cannot be answered. */
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
  const tokens = tokensOf(body, predicted, outputs, future);
  const run = async (signal: AbortSignal) => {
    const points = body.series.sizes.map((size, series) => ({ series, cutoff: size }));
    const contexts = [modelParams(model, body.freq).inputSize];
    const scope = { series: splitSeries(body.series), horizon: body.h, contexts };
    const tuned = await tunedFor(body, model, scope, signal);
    const byPoint = points.map(() => tuned);
    const answer = await forecastAnswer(body, points, () => aheadOfForecast(body), byPoint, signal);
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
  const short = level && level.length > 0 ? sizes.findIndex((size) => size < INTERVAL_SAMPLES_MIN) : -1;
  if (short >= 0) {
    const text = `Minimum required ${INTERVAL_SAMPLES_MIN} samples for computing prediction intervals; series ${short} has ${sizes[short]}`;
    problems.push(fieldProblem(['body', 'series', 'sizes', short], text));
  }
  return problems;
}
