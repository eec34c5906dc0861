import type { Model } from '../../models/catalog.ts';
import { bytesOfWeights, shareWeights, type TunedWeights, type WeightsCache } from '../../models/tuned-weights.ts';
import { inThreadTuner, tunableModels } from '../../models/tuning/in-thread-tuner.ts';
import type { Tuner } from '../../models/tuning/tuner.ts';
import type { TuningRequest } from '../../models/tuning/tuning-bytes.ts';
import { readWeights } from '../../models/tuning-graphs.ts';
import type { Logger } from '../../ops/logger.ts';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database, Sql } from '../../store/database/database.ts';
import {
  countFinetunedModels,
  FINETUNED_MODELS_MAX,
  type FinetunedModelRecord,
  findFinetunedModel,
} from '../../store/models/finetuned-models.ts';
import type { FinetunedWeights } from '../../store/models/finetuned-weights.ts';
import { audit } from '../accounts/audit-log.ts';
import { fieldProblem, HttpProblem, invalidRequest, overloaded } from '../wire/problem.ts';
import type { FrequencyProfile } from './frequency-profile.ts';
import { inputSettings, type ServedModel, type ServedModels, type TuneWeights } from './served-models.ts';
import {
  endOf,
  noObserver,
  type ObservedTuning,
  requestedTuning,
  type TuningEnd,
  type TuningObserver,
} from './tuning-progress.ts';

/** Stored fine-tuned models and the cache of their weights. */
export interface FinetunedStore {
  readonly kept: FinetunedWeights;
  readonly cache: WeightsCache;
  /** Models of one owner. */
  readonly modelsMax?: number;
}

/** Public clients match this text. */
const NO_SUCH_MODEL = 'Finetuned model not found';

export const noSuchModel = () => new HttpProblem(404, NO_SUCH_MODEL);

export interface FinetunedServices {
  /** The control-plane store. Its creator closes it, after the application. */
  readonly store: Database;
  readonly finetuned: FinetunedStore;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/** Loads a fine-tuned model: its base model and weights. Throws an HttpProblem 404 when the owner has no such model. */
export async function loadTunedWeights(
  { store, finetuned: { kept, cache } }: FinetunedServices,
  owner: string,
  id: string,
) {
  const record = await findFinetunedModel(store, owner, id);
  if (record === null) throw noSuchModel();
  return { model: record.model, weights: await cache.get(record.digest, () => kept.read(record)) };
}

/**
 * The models, with one of them under fine-tuned weights as `finetuned`. Throws an HttpProblem 422 when the weights do
 * not fit.
 */
export function withWeights(models: ServedModels, name: string, weights: TunedWeights): ServedModels {
  const base = models.find(name);
  if (base?.tunable && weights.theta.length === base.tunable.weightCount) {
    return { ...models, finetuned: base.tunable.withWeights(weights) };
  }
  const text = `it was tuned from another version of ${name} than is installed; fine-tune it again`;
  throw invalidRequest([fieldProblem(['body', 'finetuned_model_id'], text)]);
}

export function tuneInSandbox(tuner: Tuner, observe: TuningObserver = noObserver): TuneWeights {
  return async (model, base, request, signal): Promise<TunedWeights> => {
    const outcome = await observed(observe(requestedTuning(model, request)), signal, async (onStep) => {
      const made = await tuner.tune({ model, base: base?.theta ?? null, request, signal, onStep });
      return [made, made.kind === 'tuned' ? endOf(made.tuned) : { kind: made.kind }];
    });
    if (outcome.kind === 'tuned') return shareWeights(outcome.tuned.theta);
    if (outcome.kind === 'too-late' && outcome.busy) throw overloaded(tooLate(request.steps, outcome.ms, ' now'));
    const text = outcome.kind === 'too-late' ? tooLate(request.steps, outcome.ms, '') : tooMuch(outcome.kind);
    throw invalidRequest([fieldProblem(['body', 'finetune_steps'], text)]);
  };
}

function tooLate(steps: number, ms: number, now: '' | ' now'): string {
  const seconds = Math.ceil(ms / 1_000);
  const needs = `${steps} steps would take about ${seconds} seconds here${now}, longer than clients wait for an answer`;
  return `${needs}; use fewer steps, or a job (/async)`;
}

function tooMuch(kind: 'too-long' | 'too-large'): string {
  const limit = kind === 'too-long' ? 'took longer' : 'needed more memory';
  return `fine-tuning ${limit} than one request may; use fewer steps, or fewer series`;
}

/** Fine-tunes in this process, which is a sandbox itself. */
export function tuneInProcess(models: readonly Model[], observe: TuningObserver = noObserver): TuneWeights {
  const work = inThreadTuner(tunableModels(models));
  const byName = new Map(models.map((model) => [model.name, model]));
  return async (name, base, request, signal) => {
    const { graphPath, manifest } = byName.get(name)!;
    const theta = base?.theta ?? (await readWeights(graphPath, manifest.tuning!));
    return observed(observe(requestedTuning(name, request)), signal, async (onStep) => {
      onStep(0);
      const tuned = await work({ ...request, model: name, base: theta }, { signal, progress: onStep });
      return [shareWeights(tuned.theta), endOf(tuned)];
    });
  };
}

/** Runs a fine-tuning and reports its outcome, also when it fails. */
async function observed<T>(
  { stepped, ended }: ObservedTuning,
  signal: AbortSignal,
  make: (onStep: (step: number) => void) => Promise<readonly [T, TuningEnd]>,
): Promise<T> {
  try {
    const [made, end] = await make(stepped);
    ended(end);
    return made;
  } catch (error) {
    const refused = error instanceof ServiceError && error.code === 'overloaded';
    ended({ kind: signal.aborted ? 'stopped' : refused ? 'refused' : 'failed' });
    throw error;
  }
}

/** Training data and scope of a fine-tuning. */
interface TuningScope {
  /** The part of each series that may be used for training. */
  readonly series: readonly Float64Array[];
  readonly horizon: number;
  readonly contexts: readonly number[];
  readonly signal: AbortSignal;
}

/** Fine-tuning of a request; 0 steps: none. */
export type Tuning = Pick<TuningRequest, 'steps' | 'loss' | 'depth'>;

/** The model of a request, fine-tuned; unchanged without steps. */
export async function tuneForRequest(
  tuning: Tuning,
  model: ServedModel,
  { signal, ...scope }: TuningScope,
): Promise<ServedModel> {
  if (tuning.steps === 0) return model;
  const horizon = Math.min(scope.horizon, model.forecaster.limits.passHorizonMax);
  return model.tunable!.withWeights(await model.tunable!.tune({ ...scope, ...tuning, horizon }, signal));
}

/** Context lengths of forecasts and of detection. A stored model serves both. */
export function contextsOf(model: ServedModel, frequency: FrequencyProfile): number[] {
  return [...new Set([inputSettings(model, frequency).context, model.forecaster.limits.context])];
}

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
