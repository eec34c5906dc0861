import type { Static } from 'typebox';
import { flagInSample } from '../../../detector/in-sample-detection.ts';
import { charged, type Work } from '../../accounts/metering.ts';
import { OUTPUTS_OF_DETECTION, outputsOfLevels, tokensOf } from '../../accounts/token-count.ts';
import type { ServedModels } from '../../models/served-models.ts';
import { modelsOf } from '../../models/tuned-models.ts';
import { forecastHistories, inSampleAnswer, inSampleProblems } from '../../tasks/in-sample-answer.ts';
import { modelOf, type SeriesRequest, seriesProblems } from '../../tasks/series-request.ts';
import { KEY_NEEDED, seriesAnswers } from '../../wire/answer-schemas.ts';
import {
  HistoricForecastAnswer,
  HistoricForecastRequest,
  InSampleDetectionAnswer,
  InSampleDetectionRequest,
} from '../../wire/in-sample-schema.ts';
import { DEFAULT_LEVEL, distinctLevels } from '../../wire/interval-keys.ts';
import { invalidRequest } from '../../wire/problem.ts';
import { flagsOf, sendAnswer } from '../../wire/wire-answer.ts';
import type { AppServices } from '../app-services.ts';
import { clientGone } from '../client-gone.ts';
import type { App } from '../fastify-app.ts';
import { callerOf } from '../require-key.ts';

/** As RFC 9745 writes it: the first day of 2026, before the first version. */
const DEPRECATED_SINCE = '@1767225600';

/** What is asked about whole histories. */
export function addInSampleRoutes(app: App, services: AppServices): void {
  addDetection(app, services);
  addHistoricForecast(app, services);
}

function addDetection(app: App, services: AppServices): void {
  app.post(
    '/v2/anomaly_detection',
    {
      schema: {
        summary:
          'Judges whole histories: every value by a forecast from what came before it, and by the residuals of all of them',
        security: KEY_NEEDED,
        body: InSampleDetectionRequest,
        response: seriesAnswers(InSampleDetectionAnswer),
      },
    },
    async (request, reply) => {
      const work = detectionWork(request.body, await modelsOf(services, request));
      return sendAnswer(reply, await charged(services.calls, callerOf(request), work, clientGone(reply)));
    },
  );
}

function addHistoricForecast(app: App, services: AppServices): void {
  app.post(
    '/v2/historic_forecast',
    {
      schema: {
        summary: 'Forecasts histories from within; use /v2/cross_validation',
        deprecated: true,
        security: KEY_NEEDED,
        body: HistoricForecastRequest,
        response: seriesAnswers(HistoricForecastAnswer),
      },
    },
    async (request, reply) => {
      reply.headers({ deprecation: DEPRECATED_SINCE, link: '</v2/cross_validation>; rel="successor-version"' });
      const work = historicForecastWork(request.body, await modelsOf(services, request));
      return sendAnswer(reply, await charged(services.calls, callerOf(request), work, clientGone(reply)));
    },
  );
}

/** Throws an HttpProblem for what cannot be answered. */
function detectionWork(body: Static<typeof InSampleDetectionRequest>, models: ServedModels): Work {
  const model = modelFor(models, body);
  const level = body.level ?? DEFAULT_LEVEL;
  const tokens = tokensOf(body, body.series.y.length, OUTPUTS_OF_DETECTION);
  const run = async (signal: AbortSignal) => {
    const forecasts = await forecastHistories(body, model, signal);
    const answer = inSampleAnswer(forecasts, [level], { contributions: false });
    const anomaly = flagsOf(forecasts.map((forecast) => flagInSample(forecast, forecast.calibration, level.value)));
    return { ...tokens, ...answer, anomaly } satisfies Static<typeof InSampleDetectionAnswer>;
  };
  return { tokens, run };
}

/** Throws an HttpProblem for what cannot be answered. */
function historicForecastWork(body: Static<typeof HistoricForecastRequest>, models: ServedModels): Work {
  const model = modelFor(models, body);
  const levels = distinctLevels(body.level);
  const tokens = tokensOf(body, body.series.y.length, outputsOfLevels(levels.length));
  const run = async (signal: AbortSignal) => {
    const forecasts = await forecastHistories(body, model, signal);
    const answer = inSampleAnswer(forecasts, levels, { contributions: body.feature_contributions ?? false });
    return { ...tokens, ...answer } satisfies Static<typeof HistoricForecastAnswer>;
  };
  return { tokens, run };
}

function modelFor(models: ServedModels, body: SeriesRequest & { readonly freq: string }) {
  const problems = [...seriesProblems(body), ...inSampleProblems(body)];
  const model = modelOf(models, body, problems);
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  return model;
}
