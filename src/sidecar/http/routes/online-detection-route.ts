import { onlineDetectionWork } from '../../tasks/online-detection-task.ts';
import { seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { OnlineDetectionAnswer, OnlineDetectionRequest } from '../../wire/schema/online-detection-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { warnBeyondHorizon } from '../exchange/horizon-warning.ts';
import { requestModels } from '../exchange/request-models.ts';
import { answerWith } from '../exchange/send-answer.ts';

export function addOnlineDetectionRoute(app: App, services: AppServices): void {
  app.post(
    '/v2/online_anomaly_detection',
    {
      schema: {
        operationId: 'detectOnline',
        summary: 'Detects anomalies at the end of each series by forecasts from the values before it',
        body: OnlineDetectionRequest,
        response: seriesAnswers(OnlineDetectionAnswer),
      },
    },
    async (request, reply) => {
      const models = await requestModels(services, request);
      const work = onlineDetectionWork(request.body, models);
      warnBeyondHorizon(reply, request.body, models);
      return answerWith({ services, request, reply }, work);
    },
  );
}
