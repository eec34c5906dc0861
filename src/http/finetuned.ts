import type { FastifyRequest } from 'fastify';
import { shareWeights, type TunedWeights, type WeightsCache } from '../model/tuning/tuned-weights.ts';
import type { Tuner } from '../model/tuning/tuner.ts';
import type { TuningLoss } from '../model/tuning/tuning-graphs.ts';
import { type FinetunedModelRecord, findFinetunedModel } from '../store/finetuned-models.ts';
import type { FinetunedWeights } from '../store/finetuned-weights.ts';
import type { AppServices } from './app.ts';
import { callerOf } from './caller.ts';
import { forecastContext } from './frequency-profile.ts';
import { fieldProblem, HttpProblem, invalidRequest } from './problem.ts';
import { modelsOfKey, type ServedModel, type ServedModels, type TuneWeights } from './served-models.ts';

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

/**
 * The models of a request: those that its key may use, and the fine-tuned one it names. Throws an HttpProblem: 404 where the caller has none of
 * that id, 403 where the key may not use the model below it.
 */
export async function modelsOf(
  { models, store, finetuned }: AppServices,
  request: FastifyRequest,
): Promise<ServedModels> {
  const caller = callerOf(request);
  const allowed = modelsOfKey(models, caller);
  const { finetuned_model_id: id } = request.body as { readonly finetuned_model_id?: string | null };
  if (!id) return allowed;
  const record = await findFinetunedModel(store, caller.owner, id);
  if (record === null) throw noSuchModel();
  return { ...allowed, finetuned: await loaded(record, allowed, finetuned) };
}

async function loaded(
  record: FinetunedModelRecord,
  models: ServedModels,
  { kept, cache }: FinetunedStore,
): Promise<ServedModel> {
  const base = models.find(record.model);
  const fits = base?.tunable && record.bytes === base.tunable.weightCount * Float32Array.BYTES_PER_ELEMENT;
  if (!fits) {
    const text = `it was tuned from another version of ${record.model} than is installed; fine-tune it again`;
    throw invalidRequest([fieldProblem(['body', 'finetuned_model_id'], text)]);
  }
  return base.tunable!.withWeights(await cache.get(record.digest, () => kept.read(record)));
}

/** Tunes in a sandbox. */
export function tuneWith(tuner: Tuner): TuneWeights {
  return async (model, base, request, signal): Promise<TunedWeights> => {
    const outcome = await tuner.tune(model, base?.theta ?? null, request, signal);
    if (outcome.kind === 'tuned') return shareWeights(outcome.tuned.theta);
    const limit = outcome.kind === 'too-long' ? 'took longer' : 'needed more memory';
    const text = `fine-tuning ${limit} than one request may; use fewer steps, or fewer series`;
    throw invalidRequest([fieldProblem(['body', 'finetune_steps'], text)]);
  };
}

/** What a tuning for a request learns from, and for what. */
export interface TuningScope {
  /** What may be seen of each series. */
  readonly series: readonly Float64Array[];
  readonly horizon: number;
  /** Values before a cutoff that the forecasts look at. */
  readonly contexts: readonly number[];
}

/** The model of a request, tuned as its fields say; the model itself where they say nothing of it. */
export async function tunedFor(
  fields: TuningFields,
  model: ServedModel,
  { series, horizon, contexts }: TuningScope,
  signal: AbortSignal,
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
export function contextsOf({ forecaster: { limits } }: ServedModel, freq: string): number[] {
  return [...new Set([forecastContext(freq, limits.context), limits.context])];
}
