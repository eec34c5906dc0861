import { crossValidationWork } from '../../tasks/cross-validation-task.ts';
import { seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { CrossValidationAnswer, CrossValidationRequest } from '../../wire/schema/forecast-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { warnBeyondHorizon } from '../exchange/horizon-warning.ts';
import { requestModels } from '../exchange/request-models.ts';
import { answerWith } from '../exchange/send-answer.ts';

export function addCrossValidationRoute(app: App, services: AppServices): void {
  app.post(
    '/v2/cross_validation',
    {
      schema: {
        operationId: 'crossValidate',
        summary: 'Forecasts windows at the end of each series from the values before each window',
        body: CrossValidationRequest,
        response: seriesAnswers(CrossValidationAnswer),
      },
    },
    async (request, reply) => {
      const models = await requestModels(services, request);
      const work = crossValidationWork(request.body, models);
      warnBeyondHorizon(reply, request.body, models);
      return answerWith({ services, request, reply }, work);
    },
  );
}
