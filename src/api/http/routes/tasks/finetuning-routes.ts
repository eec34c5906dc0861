import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Sql } from '../../../../store/database/database.ts';
import { findAnswer, keepAnswer } from '../../../../store/jobs/idempotent-answers.ts';
import type { Idempotency } from '../../../../store/jobs/jobs.ts';
import {
  type FinetunedModelRecord,
  findFinetunedModel,
  listFinetunedModels,
} from '../../../../store/models/finetuned-models.ts';
import { audit } from '../../../accounts/audit-log.ts';
import type { CallEffect, Work } from '../../../accounts/metering.ts';
import { checkModelQuota, noSuchModel, type PreparedModel, prepareTuned } from '../../../models/tuned-models.ts';
import { finetuneWork } from '../../../tasks/task-work.ts';
import { otherRequest } from '../../../wire/problem.ts';
import { answers, Detail, described } from '../../../wire/schema/answer-schemas.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import { FinetuneAnswer, type FinetuneBody, FinetuneRequest } from '../../../wire/schema/tasks/finetune-schema.ts';
import { FinetunedModel, FinetunedModels } from '../../../wire/schema/tasks/tuned-model-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { idempotencyHeaders, idempotencyOf, stillRunning } from '../../exchange/idempotency.ts';
import { requestModels } from '../../exchange/request-models.ts';
import { callerOf, noteAdmitted } from '../../exchange/require-key.ts';
import { answerWith } from '../../exchange/send-answer.ts';

const FinetuneHeaders = idempotencyHeaders('the answer to the first one, for a day');

/** Fine-tuning, and the stored fine-tuned models. */
export function addFinetuningRoutes(app: App, services: AppServices): void {
  app.post(
    '/v2/finetune',
    described(FinetuneAnswer, { body: FinetuneRequest, headers: FinetuneHeaders }, 404, 409),
    async (request, reply) => {
      const { store, nowMs } = services;
      const { owner } = callerOf(request).key;
      const repetition = { store, owner, idempotency: idempotencyOf(request), nowMs };
      return oncePerKey(
        repetition,
        (answer) => {
          noteAdmitted(request);
          return reply.send(answer as Type.Static<typeof FinetuneAnswer>);
        },
        async () => {
          const work = await keptTuning(services, request);
          return answerWith({ services, request, reply }, keepingAnswer(work, repetition));
        },
      );
    },
  );
  addKeptModels(app, services);
}

/** The work of a fine-tuning whose model is stored when it is charged. Throws an HttpProblem. */
async function keptTuning(services: AppServices, request: FastifyRequest & { readonly body: FinetuneBody }) {
  const { key, requestId } = callerOf(request);
  const id = request.body.output_model_id ?? randomUUID();
  const owner = { owner: key.owner, keyId: key.id, requestId, id };
  let prepared: PreparedModel | null = null;
  const work = finetuneWork(request.body, await requestModels(services, request), async (tuned) => {
    prepared = await prepareTuned(services, tuned, owner);
    return id;
  });
  await checkModelQuota(services, key.owner, id);
  const effect = {
    commit: async (sql: Sql) => prepared?.commit(sql),
    discard: async () => prepared?.discard(),
  };
  return { ...work, effect };
}

function addKeptModels(app: App, { store, finetuned, logger, nowMs }: AppServices): void {
  app.get('/v2/finetuned_models', described(FinetunedModels), async (request) => {
    return { finetuned_models: (await listFinetunedModels(store, callerOf(request).key.owner)).map(shown) };
  });
  app.get('/v2/finetuned_models/:id', described(FinetunedModel, { params: ById }, 404), async (request) => {
    const record = await findFinetunedModel(store, callerOf(request).key.owner, request.params.id);
    if (record === null) throw noSuchModel();
    return shown(record);
  });
  const response = { 204: Type.Null(), 401: answers(Detail)[401], 403: Detail, 404: Detail };
  const deleting = { params: ById, response };
  app.delete('/v2/finetuned_models/:id', { schema: deleting }, async (request, reply) => {
    const { id } = request.params;
    const caller = callerOf(request);
    const event = { happenedAtMs: nowMs(), action: 'model-deleted', subject: id } as const;
    const deleted = await finetuned.kept.delete(caller.key.owner, id, (sql) =>
      audit(sql, logger, { actor: caller, event }),
    );
    if (!deleted) throw noSuchModel();
    return reply.code(204).send(null);
  });
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

interface Repetition {
  readonly store: Sql;
  readonly owner: string;
  readonly idempotency: Idempotency | null;
  readonly nowMs: () => number;
}

/** Requests with an `Idempotency-Key` that run in this process, by owner and key. */
const running = new Set<string>();

const nameOf = (owner: string, { key }: Idempotency) => JSON.stringify([owner, key]);

/**
 * Answers a request with the kept answer of its key, or for the first time. Throws an HttpProblem: 409 while the first
 * one runs in this process, 422 for another request of the key.
 */
async function oncePerKey<T>(
  { store, owner, idempotency }: Repetition,
  known: (answer: object) => T,
  first: () => Promise<T>,
): Promise<T> {
  if (idempotency === null) return first();
  const name = nameOf(owner, idempotency);
  if (running.has(name)) throw stillRunning();
  running.add(name);
  try {
    const kept = await findAnswer(store, owner, idempotency);
    if (kept === null) return await first();
    if (!kept.same) throw otherRequest();
    return known(kept.answer);
  } finally {
    running.delete(name);
  }
}

/** The work with its answer kept under the key, in the transaction of its effect. */
function keepingAnswer(work: Work & { readonly effect: CallEffect }, repetition: Repetition): Work {
  const { owner, idempotency, nowMs } = repetition;
  if (idempotency === null) return work;
  let answer: object = {};
  return {
    ...work,
    async run(signal) {
      answer = await work.run(signal);
      return answer;
    },
    effect: {
      async commit(sql) {
        // Another replica was faster: its answer is that of the repeated request.
        if (!(await keepAnswer(sql, idempotency, { owner, answer, nowMs: nowMs() }))) throw stillRunning();
        await work.effect.commit(sql);
      },
      discard: () => work.effect.discard(),
    },
  };
}
