import type { Static } from 'typebox';
import { flagInSample } from '../../detector/in-sample.ts';
import type { App, AppServices } from '../app.ts';
import { clientGone } from '../client-gone.ts';
import { forecastHistories, inSampleAnswer, inSampleProblems } from '../in-sample-answer.ts';
import { invalidRequest } from '../problem.ts';
import { KEY_NEEDED, seriesAnswers } from '../schema/answers.ts';
import {
  HistoricForecastAnswer,
  HistoricForecastRequest,
  InSampleDetectionAnswer,
  InSampleDetectionRequest,
} from '../schema/in-sample.ts';
import { modelOf, type SeriesRequest, seriesProblems } from '../series-request.ts';
import { OUTPUTS_OF_DETECTION, outputsOfLevels, tokensOf } from '../tokens.ts';
import { DEFAULT_LEVEL, distinctLevels } from '../wire/interval-keys.ts';
import { flagsOf, sendAnswer } from '../wire/wire-answer.ts';

/** As RFC 9745 writes it: the first day of 2026, before the first version. */
const DEPRECATED_SINCE = '@1767225600';

/** What is asked about whole histories. */
export function addInSampleRoutes(app: App, services: AppServices): void {
  addDetection(app, services);
  addHistoricForecast(app, services);
}

function addDetection(app: App, { models, usage }: AppServices): void {
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
    async ({ body }, reply) => {
      const model = modelFor(models, body);
      const level = body.level ?? DEFAULT_LEVEL;
      const forecasts = await forecastHistories(body, model, clientGone(reply));
      const answer = inSampleAnswer(forecasts, [level], { contributions: false });
      const tokens = tokensOf(body.series, answer.mean.length, OUTPUTS_OF_DETECTION);
      usage.count(tokens);
      const anomaly = flagsOf(forecasts.map((forecast) => flagInSample(forecast, forecast.calibration, level.value)));
      return sendAnswer(reply, { ...tokens, ...answer, anomaly } satisfies Static<typeof InSampleDetectionAnswer>);
    },
  );
}

function addHistoricForecast(app: App, { models, usage }: AppServices): void {
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
    async ({ body }, reply) => {
      reply.headers({ deprecation: DEPRECATED_SINCE, link: '</v2/cross_validation>; rel="successor-version"' });
      const model = modelFor(models, body);
      const levels = distinctLevels(body.level);
      const forecasts = await forecastHistories(body, model, clientGone(reply));
      const answer = inSampleAnswer(forecasts, levels, { contributions: body.feature_contributions ?? false });
      const tokens = tokensOf(body.series, answer.mean.length, outputsOfLevels(levels.length));
      usage.count(tokens);
      return sendAnswer(reply, { ...tokens, ...answer } satisfies Static<typeof HistoricForecastAnswer>);
    },
  );
}

function modelFor(models: AppServices['models'], body: SeriesRequest & { readonly freq: string }) {
  const problems = [...seriesProblems(body), ...inSampleProblems(body)];
  const model = modelOf(models, body, problems);
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  return model;
}
