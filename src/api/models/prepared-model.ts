import { bytesOfWeights, type TunedWeights } from '../../models/tuned-weights.ts';
import type { Sql } from '../../store/database/database.ts';
import {
  countFinetunedModels,
  FINETUNED_MODELS_MAX,
  type FinetunedModelRecord,
  findFinetunedModel,
} from '../../store/models/finetuned-models.ts';
import { audit } from '../accounts/audit-log.ts';
import { fieldProblem, type HttpProblem, invalidRequest } from '../wire/problem.ts';
import type { FinetunedServices } from './tuned-models.ts';

/** A model that was fine-tuned just now. */
export interface NewlyTuned
  extends Pick<FinetunedModelRecord, 'model' | 'named' | 'steps' | 'depth' | 'loss' | 'freq' | 'baseModelId'> {
  readonly weights: TunedWeights;
}

/** The owner of a new model, and the key and request that created it. */
export interface NewModelOwner {
  readonly owner: string;
  readonly keyId: string;
  readonly requestId: string;
}

/** A fine-tuned model whose weights are written, to be stored in the transaction that settles its call. */
export interface PreparedModel {
  /**
   * Stores the model with its audit event. Throws an HttpProblem at the quota. Storing the same model again has no
   * effect.
   * @param sql a transaction
   */
  commit(sql: Sql): Promise<void>;
  /** Removes what was written, when the transaction failed. */
  discard(): Promise<void>;
}

export async function prepareTuned(
  { finetuned, logger, nowMs }: FinetunedServices,
  { weights, ...tuned }: NewlyTuned,
  { id, owner, keyId, requestId }: NewModelOwner & { readonly id: string },
): Promise<PreparedModel> {
  const { digest, theta } = weights;
  const createdAtMs = nowMs();
  const record = { ...tuned, owner, id, createdAtMs, createdBy: 'user', digest, bytes: theta.byteLength };
  const detail = { digest, base: tuned.baseModelId };
  const event = { happenedAtMs: createdAtMs, action: 'model-created', subject: id, detail } as const;
  const { kept, modelsMax = FINETUNED_MODELS_MAX } = finetuned;
  const { commit, discard } = await kept.prepare(record, bytesOfWeights(theta));
  const actor = { key: { id: keyId, owner }, requestId };
  return {
    async commit(sql) {
      const recordEvent = (sql: Sql) => audit(sql, logger, { actor, event });
      const created = await commit(sql, { modelsMax, recordEvent });
      if (created.kind === 'id-taken' && (await findFinetunedModel(sql, owner, id))?.digest === digest) return;
      if (created.kind !== 'created') throw quotaProblem(created.kind, { id, modelsMax });
    },
    discard,
  };
}

/** Checks id and quota before fine-tuning. Throws an HttpProblem. */
export async function checkModelQuota(
  { store, finetuned: { modelsMax = FINETUNED_MODELS_MAX } }: Pick<FinetunedServices, 'store' | 'finetuned'>,
  owner: string,
  id: string,
): Promise<void> {
  if ((await findFinetunedModel(store, owner, id)) !== null) throw quotaProblem('id-taken', { id, modelsMax });
  if ((await countFinetunedModels(store, owner)) >= modelsMax) throw quotaProblem('too-many', { id, modelsMax });
}

/** A retry does not help. Public clients retry 409, so this is 422. */
function quotaProblem(
  kind: 'id-taken' | 'too-many',
  { id, modelsMax }: { readonly id: string; readonly modelsMax: number },
): HttpProblem {
  const text =
    kind === 'id-taken'
      ? `there is a fine-tuned model ${id} already; delete it, or take another id`
      : `there are ${modelsMax} fine-tuned models already, as many as may be kept; delete one`;
  return invalidRequest([fieldProblem(['body', 'output_model_id'], text)]);
}
