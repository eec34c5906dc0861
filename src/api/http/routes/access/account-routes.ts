import { usageOf } from '../../../../store/ledger/usage.ts';
import { frequencyProfile } from '../../../models/frequency-profile.ts';
import {
  DEFAULT_MODEL,
  modelParams,
  modelsOfKey,
  type ServedModels,
  unknownModel,
} from '../../../models/served-models.ts';
import { fieldProblem, invalidRequest } from '../../../wire/problem.ts';
import { Detail, described, Models, UsageAnswer } from '../../../wire/schema/answer-schemas.ts';
import { ModelParams, ModelParamsQuery } from '../../../wire/schema/tasks/model-params-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';

/** Public clients show this text. */
const WELCOME = { detail: 'Happy Forecasting! :)' };

/** The key of the caller: its usage, and the models that it may use. */
export function addAccountRoutes(app: App, { store, models, nowMs }: AppServices): void {
  app.get('/validate_api_key', described(Detail), async () => WELCOME);
  app.post('/validate_token', described(Detail), async () => WELCOME);
  app.get('/usage', described(UsageAnswer), async (request) => usageOf(store, callerOf(request).key.id, nowMs()));
  app.get('/v2/models', described(Models), async (request) => ({
    models: modelsOfKey(models, callerOf(request).key).names.map((name) => ({ name })),
  }));
  app.get('/model_params', described(ModelParams, { querystring: ModelParamsQuery }, 403), async (request) =>
    paramsOf(modelsOfKey(models, callerOf(request).key), request.query, 'query'),
  );
  app.post('/model_params', described(ModelParams, { body: ModelParamsQuery }), async (request) =>
    paramsOf(modelsOfKey(models, callerOf(request).key), request.body, 'body'),
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
