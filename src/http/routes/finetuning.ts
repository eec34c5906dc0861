import Type from 'typebox';
import type { App, AppServices } from '../app.ts';
import { callerOf } from '../caller.ts';
import { HttpProblem, invalidRequest } from '../problem.ts';
import { answers, Detail, InvalidRequest, KEY_NEEDED, seriesAnswers } from '../schema/answers.ts';
import {
  FinetuneAnswer,
  type FinetuneBody,
  FinetunedModel,
  FinetunedModels,
  FinetuneRequest,
} from '../schema/finetune.ts';
import { modelOf, NO_SUCH_FINETUNED, seriesProblems } from '../series-request.ts';
import { modelsOfKey, type ServedModels } from '../served-models.ts';

/** Models tuned to the series of a client. This version makes none: nothing is ever listed, and tuning is refused. */
export function addFinetuning(app: App, services: AppServices): void {
  app.post(
    '/v2/finetune',
    {
      schema: {
        summary: 'Fine-tunes a model; not available in this version: every request is refused with 422',
        security: KEY_NEEDED,
        body: FinetuneRequest,
        response: seriesAnswers(FinetuneAnswer),
      },
    },
    async (request) => refuseFinetuning(request.body, modelsOfKey(services.models, callerOf(request).key)),
  );
  const summary = 'Models that were fine-tuned; none in this version';
  const schema = { security: KEY_NEEDED, params: Type.Object({ id: Type.String() }) };
  const notFound = { 404: Detail, 422: InvalidRequest };
  app.get(
    '/v2/finetuned_models',
    { schema: { summary, security: KEY_NEEDED, response: answers(FinetunedModels) } },
    async () => ({ finetuned_models: [] }),
  );
  app.get(
    '/v2/finetuned_models/:id',
    { schema: { ...schema, summary: 'One of them', response: { ...answers(FinetunedModel), ...notFound } } },
    async () => {
      throw new HttpProblem(404, NO_SUCH_FINETUNED);
    },
  );
  app.delete(
    '/v2/finetuned_models/:id',
    {
      schema: {
        ...schema,
        summary: 'Deletes one of them',
        response: { 204: Type.Null(), 401: answers(Detail)[401], ...notFound },
      },
    },
    async () => {
      throw new HttpProblem(404, NO_SUCH_FINETUNED);
    },
  );
}

/** Throws an HttpProblem: what is wrong with the request, and that it could not be answered if it were right. */
export function refuseFinetuning(body: FinetuneBody, models: ServedModels): never {
  const problems = seriesProblems({ ...body, finetune_steps: 0 });
  modelOf(models, body, problems);
  const error = 'fine-tuning is not available in this version; use the models as they are';
  problems.push({ loc: ['body'], msg: `Value error, ${error}`, type: 'finetuning_unavailable', ctx: { error } });
  throw invalidRequest(problems);
}
