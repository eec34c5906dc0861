import { forecastWork } from '../../tasks/forecast-task.ts';
import { seriesAnswers } from '../../wire/schema/answer-schemas.ts';
import { ForecastAnswer, ForecastRequest } from '../../wire/schema/forecast-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { warnBeyondHorizon } from '../exchange/horizon-warning.ts';
import { requestModels } from '../exchange/request-models.ts';
import { answerWith } from '../exchange/send-answer.ts';

export function addForecastRoute(app: App, services: AppServices): void {
  app.post(
    '/v2/forecast',
    {
      schema: {
        operationId: 'forecast',
        summary: 'Forecasts the next values of each series',
        body: ForecastRequest,
        response: seriesAnswers(ForecastAnswer),
      },
    },
    async (request, reply) => {
      const models = await requestModels(services, request);
      const work = forecastWork(request.body, models);
      warnBeyondHorizon(reply, request.body, models);
      return answerWith({ services, request, reply }, work);
    },
  );
}
