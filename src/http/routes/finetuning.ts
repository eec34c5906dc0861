import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { bytesOfWeights } from '../../model/tuning/tuned-weights.ts';
import {
  countFinetunedModels,
  FINETUNED_MODELS_MAX,
  type FinetunedModelRecord,
  findFinetunedModel,
  listFinetunedModels,
} from '../../store/finetuned-models.ts';
import type { App, AppServices } from '../app.ts';
import { audit } from '../audit.ts';
import { callerOf } from '../caller.ts';
import { charged, type Work } from '../calls.ts';
import { clientGone } from '../client-gone.ts';
import { contextsOf, modelsOf, noSuchModel, TUNING_DEFAULTS } from '../finetuned.ts';
import { fieldProblem, invalidRequest } from '../problem.ts';
import { answers, Detail, InvalidRequest, KEY_NEEDED, seriesAnswers } from '../schema/answers.ts';
import {
  FinetuneAnswer,
  type FinetuneBody,
  FinetunedModel,
  FinetunedModels,
  FinetuneRequest,
} from '../schema/finetune.ts';
import { modelOf, seriesProblems } from '../series-request.ts';
import { modelParams, type ServedModel } from '../served-models.ts';
import { splitSeries } from '../split-series.ts';
import { tokensOf } from '../tokens.ts';
import { sendAnswer } from '../wire/wire-answer.ts';

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
      const work = await finetuneWork(request.body, services, request);
      return sendAnswer(reply, await charged(services.calls, request, work, clientGone(reply)));
    },
  );
  addKeptModels(app, services);
}

function addKeptModels(app: App, { store, finetuned, logger, nowMs }: AppServices): void {
  const schema = { security: KEY_NEEDED, params: Type.Object({ id: Type.String() }) };
  const notFound = { 404: Detail, 422: InvalidRequest };
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
      return { finetuned_models: (await listFinetunedModels(store, callerOf(request).owner)).map(shown) };
    },
  );
  app.get(
    '/v2/finetuned_models/:id',
    { schema: { ...schema, summary: 'One of them', response: { ...answers(FinetunedModel), ...notFound } } },
    async (request) => {
      const record = await findFinetunedModel(store, callerOf(request).owner, request.params.id);
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
      if (!(await finetuned.kept.delete(callerOf(request).owner, id))) throw noSuchModel();
      await audit(store, logger, request, { happenedAtMs: nowMs(), action: 'model-deleted', subject: id });
      return reply.code(204).send(null);
    },
  );
}

/** Throws an HttpProblem for what cannot be answered. */
export async function finetuneWork(body: FinetuneBody, services: AppServices, request: FastifyRequest): Promise<Work> {
  const { owner } = callerOf(request);
  const steps = body.finetune_steps ?? TUNING_DEFAULTS.steps;
  const problems = seriesProblems({ ...body, finetune_steps: steps });
  const model = modelOf(await modelsOf(services, request), { ...body, finetune_steps: steps }, problems);
  if (model !== null && model.tunable === null && steps === 0) {
    problems.push(fieldProblem(['body', 'model'], `model ${model.name} cannot be fine-tuned`));
  }
  if (model === null || problems.length > 0) throw invalidRequest(problems);
  const id = body.output_model_id ?? randomUUID();
  await checkRoom(services, owner, id);
  const tokens = tokensOf({ ...body, finetune_steps: steps }, 0, 0);
  const run = async (signal: AbortSignal) => {
    const record = await tuneAndKeep({ id, steps, owner }, body, model, services, signal);
    const detail = { digest: record.digest, base: record.baseModelId };
    const entry = { happenedAtMs: record.createdAtMs, action: 'model-created', subject: id, detail } as const;
    await audit(services.store, services.logger, request, entry);
    return { ...tokens, finetuned_model_id: id };
  };
  return { tokens, run };
}

interface NewModel {
  readonly id: string;
  readonly owner: string;
  readonly steps: number;
}

async function tuneAndKeep(
  { id, owner, steps }: NewModel,
  body: FinetuneBody,
  model: ServedModel,
  { finetuned, nowMs }: AppServices,
  signal: AbortSignal,
): Promise<FinetunedModelRecord> {
  const [loss, depth] = [body.finetune_loss ?? TUNING_DEFAULTS.loss, body.finetune_depth ?? TUNING_DEFAULTS.depth];
  const request = {
    series: splitSeries(body.series),
    horizon: Math.min(modelParams(model, body.freq).horizon, model.forecaster.limits.passHorizonMax),
    contexts: contextsOf(model, body.freq),
    steps,
    loss,
    depth,
  };
  const { digest, theta } = await model.tunable!.tune(request, signal);
  const record: FinetunedModelRecord = {
    owner,
    id,
    createdAtMs: nowMs(),
    createdBy: 'user',
    baseModelId: body.finetuned_model_id ?? null,
    steps,
    depth,
    loss,
    model: model.name,
    freq: body.freq,
    digest,
    bytes: theta.byteLength,
  };
  const created = await finetuned.kept.create(record, bytesOfWeights(theta));
  if (created.kind !== 'created') throw refusal(created.kind, id);
  return record;
}

/** What could not be kept is not tuned first. */
async function checkRoom({ store }: AppServices, owner: string, id: string): Promise<void> {
  if ((await findFinetunedModel(store, owner, id)) !== null) throw refusal('id-taken', id);
  if ((await countFinetunedModels(store, owner)) >= FINETUNED_MODELS_MAX) throw refusal('too-many', id);
}

/** Trying again does not help, so that this is no 409, which public clients would send again. */
function refusal(kind: 'id-taken' | 'too-many', id: string) {
  const text =
    kind === 'id-taken'
      ? `there is a fine-tuned model ${id} already; delete it, or take another id`
      : `there are ${FINETUNED_MODELS_MAX} fine-tuned models already, as many as may be kept; delete one`;
  return invalidRequest([fieldProblem(['body', 'output_model_id'], text)]);
}

function shown({ id, createdAtMs, createdBy, baseModelId, steps, depth, loss, model, freq }: FinetunedModelRecord) {
  return {
    id,
    created_at: new Date(createdAtMs).toISOString(),
    created_by: createdBy,
    base_model_id: baseModelId ?? 'None',
    steps,
    depth,
    loss,
    model,
    freq,
  };
}
