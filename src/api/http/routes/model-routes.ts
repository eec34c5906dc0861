import { frequencyProfile } from '../../models/frequency-profile.ts';
import {
  DEFAULT_MODEL,
  modelParams,
  modelsOfKey,
  type ServedModels,
  unknownModel,
} from '../../models/served-models.ts';
import { fieldProblem, invalidRequest } from '../../wire/problem.ts';
import { answers, bodyAnswers, Detail, InvalidRequest, Models } from '../../wire/schema/answer-schemas.ts';
import { ModelParams, ModelParamsQuery } from '../../wire/schema/model-params-schema.ts';
import type { AppServices } from '../exchange/app-services.ts';
import type { App } from '../exchange/fastify-app.ts';
import { callerOf } from '../exchange/require-key.ts';

export function addModelRoutes(app: App, { models }: AppServices): void {
  app.get(
    '/v2/models',
    {
      schema: {
        operationId: 'listModels',
        summary: 'Lists the models that the key may use',
        response: answers(Models),
      },
    },
    async (request) => ({ models: modelsOfKey(models, callerOf(request).key).names.map((name) => ({ name })) }),
  );
  const summary = 'Returns the input size and the horizon of a model at a frequency';
  const response = { ...answers(ModelParams), 403: Detail, 422: InvalidRequest };
  app.get(
    '/model_params',
    {
      schema: { operationId: 'getModelParams', summary, querystring: ModelParamsQuery, response },
    },
    async (request) => paramsOf(modelsOfKey(models, callerOf(request).key), request.query, 'query'),
  );
  app.post(
    '/model_params',
    {
      schema: {
        operationId: 'queryModelParams',
        summary,
        body: ModelParamsQuery,
        response: bodyAnswers(ModelParams),
      },
    },
    async (request) => paramsOf(modelsOfKey(models, callerOf(request).key), request.body, 'body'),
  );
}

function paramsOf(
  models: ServedModels,
  { model: name = DEFAULT_MODEL, freq }: { readonly model?: string; readonly freq: string },
  where: 'query' | 'body',
) {
  const model = models.find(name);
  if (model === null) throw invalidRequest([fieldProblem([where, 'model'], unknownModel(models))]);
  const { inputSize, horizon } = modelParams(model, frequencyProfile(freq));
  return { detail: { input_size: inputSize, horizon } };
}
