import { historicForecastWork, inSampleDetectionWork } from '../../tasks/in-sample-task.ts';
import { seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import {
  HistoricForecastAnswer,
  HistoricForecastRequest,
  InSampleDetectionAnswer,
  InSampleDetectionRequest,
} from '../../wire/schema/in-sample-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { requestModels } from '../exchange/request-models.ts';
import { answerWith } from '../exchange/send-answer.ts';

/** A date in the format of RFC 9745: 2026-01-01. */
const DEPRECATED_SINCE = '@1767225600';

/** Endpoints for whole histories. */
export function addInSampleRoutes(app: App, services: AppServices): void {
  addDetection(app, services);
  addHistoricForecast(app, services);
}

function addDetection(app: App, services: AppServices): void {
  app.post(
    '/v2/anomaly_detection',
    {
      schema: {
        operationId: 'detectInSample',
        summary: 'Detects anomalies in whole histories by in-sample forecasts and their residuals',
        body: InSampleDetectionRequest,
        response: seriesAnswers(InSampleDetectionAnswer),
      },
    },
    async (request, reply) => {
      const work = inSampleDetectionWork(request.body, await requestModels(services, request));
      return answerWith({ services, request, reply }, work);
    },
  );
}

function addHistoricForecast(app: App, services: AppServices): void {
  app.post(
    '/v2/historic_forecast',
    {
      schema: {
        operationId: 'forecastHistoric',
        summary: 'Forecasts whole histories in-sample; use /v2/cross_validation',
        deprecated: true,
        body: HistoricForecastRequest,
        response: seriesAnswers(HistoricForecastAnswer),
      },
    },
    async (request, reply) => {
      reply.headers({ deprecation: DEPRECATED_SINCE, link: '</v2/cross_validation>; rel="successor-version"' });
      const work = historicForecastWork(request.body, await requestModels(services, request));
      return answerWith({ services, request, reply }, work);
    },
  );
}
