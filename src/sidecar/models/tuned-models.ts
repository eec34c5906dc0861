import type { Model } from '../../model/catalog.ts';
import { bytesOfWeights, shareWeights, type TunedWeights, type WeightsCache } from '../../model/tuned-weights.ts';
import { inThreadTuner, tunableModels } from '../../model/tuning/in-thread-tuner.ts';
import type { Tuner } from '../../model/tuning/tuner.ts';
import { readWeights, type TuningLoss } from '../../model/tuning-graphs.ts';
import { ServiceError } from '../../service-error.ts';
import type { ApiKey } from '../../store/api-keys.ts';
import type { Database, Sql } from '../../store/database.ts';
import {
  countFinetunedModels,
  FINETUNED_MODELS_MAX,
  type FinetunedModelRecord,
  findFinetunedModel,
} from '../../store/finetuned-models.ts';
import type { FinetunedWeights } from '../../store/finetuned-weights.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { audit } from '../accounts/audit-log.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import { inputSettings, modelsOfKey, type ServedModel, type ServedModels, type TuneWeights } from './served-models.ts';
import {
  endOf,
  noObserver,
  type ObservedTuning,
  requestedTuning,
  type TuningEnd,
  type TuningObserver,
} from './tuning-progress.ts';

/** Where fine-tuned models are kept, and what of them is in memory. */
export interface FinetunedStore {
  readonly kept: FinetunedWeights;
  readonly cache: WeightsCache;
}

/** Public clients know these words. */
const NO_SUCH_MODEL = 'Finetuned model not found';

export const noSuchModel = () => new HttpProblem(404, NO_SUCH_MODEL);

/** Of a request that may fine-tune. */
export interface TuningFields {
  readonly finetune_steps?: number;
  readonly finetune_loss?: TuningLoss;
  readonly finetune_depth?: number;
}

export const TUNING_DEFAULTS = { steps: 10, loss: 'default', depth: 1 } as const;

/** What is asked of fine-tuned models: their store, and who asks. */
export interface FinetunedServices {
  /** What outlives the process. Whoever made it closes it, after the application. */
  readonly store: Database;
  readonly finetuned: FinetunedStore;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/**
 * The models that a key may use, with the fine-tuned one that a request names. Throws an HttpProblem: 404 where the owner has none of that id,
 * 403 where the key may not use its base model.
 */
export async function modelsForKey(
  services: FinetunedServices & { readonly models: ServedModels },
  key: ApiKey,
  finetunedId: string | null | undefined,
): Promise<ServedModels> {
  const allowed = modelsOfKey(services.models, key);
  if (!finetunedId) return allowed;
  const { model, weights } = await loadTunedWeights(services, key.owner, finetunedId);
  return withWeights(allowed, model, weights);
}

/** A fine-tuned model of an owner: the pretrained one below it, and its weights. Throws an HttpProblem 404 where there is none. */
export async function loadTunedWeights(
  { store, finetuned: { kept, cache } }: FinetunedServices,
  owner: string,
  id: string,
) {
  const record = await findFinetunedModel(store, owner, id);
  if (record === null) throw noSuchModel();
  return { model: record.model, weights: await cache.get(record.digest, () => kept.read(record)) };
}

/** The models and, as what a request names, one of them with these weights. Throws an HttpProblem 422 where they do not fit. */
export function withWeights(models: ServedModels, name: string, weights: TunedWeights): ServedModels {
  const base = models.find(name);
  if (base?.tunable && weights.theta.length === base.tunable.weightCount) {
    return { ...models, finetuned: base.tunable.withWeights(weights) };
  }
  const text = `it was tuned from another version of ${name} than is installed; fine-tune it again`;
  throw invalidRequest([fieldProblem(['body', 'finetuned_model_id'], text)]);
}

/** A model that was tuned just now. */
export interface NewlyTuned
  extends Pick<FinetunedModelRecord, 'model' | 'named' | 'steps' | 'depth' | 'loss' | 'freq' | 'baseModelId'> {
  readonly weights: TunedWeights;
}

/** Under whose name a model is kept, and by whose deed. */
export interface NewModelOwner {
  readonly owner: string;
  readonly keyId: string;
  readonly requestId: string;
}

/** Keeps a model, and puts that on record. Throws an HttpProblem where there is no room; the same model again, as when a job is run twice, is kept once. */
export async function keepTuned(
  { store, finetuned, logger, nowMs }: FinetunedServices,
  { weights, ...tuned }: NewlyTuned,
  { id, owner, keyId, requestId }: NewModelOwner & { readonly id: string },
): Promise<void> {
  const { digest, theta } = weights;
  const createdAtMs = nowMs();
  const record = { ...tuned, owner, id, createdAtMs, createdBy: 'user', digest, bytes: theta.byteLength };
  const detail = { digest, base: tuned.baseModelId };
  const event = { happenedAtMs: createdAtMs, action: 'model-created', subject: id, detail } as const;
  const created = await finetuned.kept.create(record, bytesOfWeights(theta), {
    recordEvent: (sql) => audit(sql, logger, { actor: { key: { id: keyId, owner }, requestId }, event }),
  });
  if (created.kind === 'id-taken' && (await findFinetunedModel(store, owner, id))?.digest === digest) return;
  if (created.kind !== 'created') throw quotaProblem(created.kind, id);
}

/** What could not be kept is not tuned first: throws an HttpProblem. */
export async function checkModelQuota(store: Sql, owner: string, id: string): Promise<void> {
  if ((await findFinetunedModel(store, owner, id)) !== null) throw quotaProblem('id-taken', id);
  if ((await countFinetunedModels(store, owner)) >= FINETUNED_MODELS_MAX) throw quotaProblem('too-many', id);
}

/** Trying again does not help, so that this is no 409, which public clients would send again. */
function quotaProblem(kind: 'id-taken' | 'too-many', id: string): HttpProblem {
  const text =
    kind === 'id-taken'
      ? `there is a fine-tuned model ${id} already; delete it, or take another id`
      : `there are ${FINETUNED_MODELS_MAX} fine-tuned models already, as many as may be kept; delete one`;
  return invalidRequest([fieldProblem(['body', 'output_model_id'], text)]);
}

/** Tunes in a sandbox. */
export function tuneInSandbox(tuner: Tuner, observe: TuningObserver = noObserver): TuneWeights {
  return async (model, base, request, signal): Promise<TunedWeights> => {
    const outcome = await observed(observe(requestedTuning(model, request)), signal, async (onStep) => {
      const made = await tuner.tune({ model, base: base?.theta ?? null, request, signal, onStep });
      return [made, made.kind === 'tuned' ? endOf(made.tuned) : made];
    });
    if (outcome.kind === 'tuned') return shareWeights(outcome.tuned.theta);
    const limit = outcome.kind === 'too-long' ? 'took longer' : 'needed more memory';
    const text = `fine-tuning ${limit} than one request may; use fewer steps, or fewer series`;
    throw invalidRequest([fieldProblem(['body', 'finetune_steps'], text)]);
  };
}

/** Tunes in this process, which is a sandbox itself. */
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

/** Makes something by tuning, which also gives how that ended, and tells whoever watches, also where it fails. */
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

/** What a tuning for a request learns from, and for what. */
export interface TuningScope {
  /** What may be seen of each series. */
  readonly series: readonly Float64Array[];
  readonly horizon: number;
  /** Values before a cutoff that the forecasts look at. */
  readonly contexts: readonly number[];
  readonly signal: AbortSignal;
}

/** The model of a request, tuned as its fields say; the model itself where they say nothing of it. */
export async function tuneForRequest(
  fields: TuningFields,
  model: ServedModel,
  { series, horizon, contexts, signal }: TuningScope,
): Promise<ServedModel> {
  const { finetune_steps: steps = 0, finetune_loss: loss, finetune_depth: depth } = fields;
  if (steps === 0) return model;
  const request = {
    series,
    horizon: Math.min(horizon, model.forecaster.limits.passHorizonMax),
    contexts,
    steps,
    loss: loss ?? TUNING_DEFAULTS.loss,
    depth: depth ?? TUNING_DEFAULTS.depth,
  };
  return model.tunable!.withWeights(await model.tunable!.tune(request, signal));
}

/** What forecasts and detection look at: both, for weights that serve both. */
export function contextsOf(model: ServedModel, freq: string): number[] {
  return [...new Set([inputSettings(model, freq).context, model.forecaster.limits.context])];
}
