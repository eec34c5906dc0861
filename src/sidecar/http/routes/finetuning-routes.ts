import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { type FinetunedModelRecord, findFinetunedModel, listFinetunedModels } from '../../../store/finetuned-models.ts';
import { audit } from '../../accounts/audit-log.ts';
import { charged, type Work } from '../../accounts/metering.ts';
import { tokensOf } from '../../accounts/token-count.ts';
import { modelParams, type ServedModels, untunable } from '../../models/served-models.ts';
import {
  checkRoom,
  contextsOf,
  keepTuned,
  modelsOf,
  type NewlyTuned,
  noSuchModel,
  TUNING_DEFAULTS,
} from '../../models/tuned-models.ts';
import { modelOf, seriesProblems } from '../../tasks/series-request.ts';
import { splitSeries } from '../../tasks/split-series.ts';
import { answers, Detail, KEY_NEEDED, seriesAnswers } from '../../wire/answer-schemas.ts';
import {
  FinetuneAnswer,
  type FinetuneBody,
  FinetunedModel,
  FinetunedModels,
  FinetuneRequest,
} from '../../wire/finetune-schema.ts';
import { invalidRequest } from '../../wire/problem.ts';
import { sendAnswer } from '../../wire/wire-answer.ts';
import type { AppServices } from '../app-services.ts';
import { clientGone } from '../client-gone.ts';
import type { App } from '../fastify-app.ts';
import { callerOf } from '../require-key.ts';

/** Models tuned to the series of a client, and kept under a name. */
export function addFinetuning(app: App, services: AppServices): void {
  app.post(
    '/v2/finetune',
    {
      schema: {
        summary: 'Fine-tunes a model to series, and keeps it under an id',
        security: KEY_NEEDED,
        body: FinetuneRequest,
        response: seriesAnswers(FinetuneAnswer),
      },
    },
    async (request, reply) => {
      const { key, requestId } = callerOf(request);
      const owner = { owner: key.owner, keyId: key.id, requestId };
      const id = request.body.output_model_id ?? randomUUID();
      const work = finetuneWork(request.body, await modelsOf(services, request), async (tuned) => {
        await keepTuned(services, owner, id, tuned);
        return id;
      });
      await checkRoom(services.store, key.owner, id);
      return sendAnswer(reply, await charged(services.calls, callerOf(request), work, clientGone(reply)));
    },
  );
  addKeptModels(app, services);
}

function addKeptModels(app: App, { store, finetuned, logger, nowMs }: AppServices): void {
  const schema = { security: KEY_NEEDED, params: Type.Object({ id: Type.String() }) };
  const notFound = { 404: Detail };
  app.get(
    '/v2/finetuned_models',
    {
      schema: {
        summary: 'The models that were fine-tuned, newest first',
        security: KEY_NEEDED,
        response: answers(FinetunedModels),
      },
    },
    async (request) => {
      return { finetuned_models: (await listFinetunedModels(store, callerOf(request).key.owner)).map(shown) };
    },
  );
  app.get(
    '/v2/finetuned_models/:id',
    { schema: { ...schema, summary: 'One of them', response: { ...answers(FinetunedModel), ...notFound } } },
    async (request) => {
      const record = await findFinetunedModel(store, callerOf(request).key.owner, request.params.id);
      if (record === null) throw noSuchModel();
      return shown(record);
    },
  );
  app.delete(
    '/v2/finetuned_models/:id',
    {
      schema: {
        ...schema,
        summary: 'Deletes one of them; models that were tuned from it stay',
        response: { 204: Type.Null(), 401: answers(Detail)[401], ...notFound },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const caller = callerOf(request);
      const deed = { happenedAtMs: nowMs(), action: 'model-deleted', subject: id } as const;
      const deleted = await finetuned.kept.delete(caller.key.owner, id, (sql) => audit(sql, logger, caller, deed));
      if (!deleted) throw noSuchModel();
      return reply.code(204).send(null);
    },
  );
}

/** Keeps a model that was tuned; gives its id. */
export type KeepTuned = (tuned: NewlyTuned) => Promise<string>;

/** Throws an HttpProblem for what cannot be answered. */
export function finetuneWork(body: FinetuneBody, models: ServedModels, keep: KeepTuned): Work {
  const [steps, loss, depth] = [
    body.finetune_steps ?? TUNING_DEFAULTS.steps,
    body.finetune_loss ?? TUNING_DEFAULTS.loss,
    body.finetune_depth ?? TUNING_DEFAULTS.depth,
  ];
  const problems = seriesProblems({ ...body, finetune_steps: steps });
  const model = modelOf(models, { ...body, finetune_steps: 0 }, problems);
  // Also weights that no step changes are those of a model that can be tuned.
  if (model?.tunable === null) problems.push(untunable(models, model, 'model'));
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const tokens = tokensOf({ ...body, finetune_steps: steps }, 0, 0);
  const run = async (signal: AbortSignal) => {
    const scope = {
      series: splitSeries(body.series),
      horizon: modelParams(model, body.freq).horizon,
      contexts: contextsOf(model, body.freq),
    };
    const weights = await model.tunable!.tune({ ...scope, steps, loss, depth }, signal);
    const baseModelId = body.finetuned_model_id ?? null;
    const kept = { model: model.name, named: nameIn(body, model.name, models), steps, depth, loss, freq: body.freq };
    const id = await keep({ weights, ...kept, baseModelId });
    return { ...tokens, finetuned_model_id: id };
  };
  return { tokens, run };
}

/** What a request calls a model. */
function nameIn({ model: named }: FinetuneBody, name: string, models: ServedModels): string {
  return named !== undefined && models.names.includes(named) && models.find(named)?.name === name ? named : name;
}

function shown({ id, createdAtMs, createdBy, baseModelId, steps, depth, loss, named, freq }: FinetunedModelRecord) {
  return {
    id,
    created_at: new Date(createdAtMs).toISOString(),
    created_by: createdBy,
    base_model_id: baseModelId ?? 'None',
    steps,
    depth,
    loss,
    model: named,
    freq,
  };
}
