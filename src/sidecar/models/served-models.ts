import { type RolledOutForecaster, rollOut } from '../../forecast/autoregressive-roll-out.ts';
import { lookbackLength } from '../../forecast/multi-resolution.ts';
import type { TemporalAggregation } from '../../forecast/temporal-aggregation.ts';
import type { Model, ModelCatalog } from '../../model/catalog.ts';
import type { Forecasters } from '../../model/onnx-forecaster.ts';
import type { TunedWeights } from '../../model/tuned-weights.ts';
import type { TuningRequest } from '../../model/tuning/tuning-bytes.ts';
import { weightCount } from '../../model/tuning-graphs.ts';
import type { KeyLimits } from '../../store/api-keys.ts';
import { type FieldProblem, fieldProblem, HttpProblem } from '../wire/problem.ts';
import { aggregationOf, type FrequencyProfile, forecastContext, seasonalHorizon } from './frequency-profile.ts';

/** A model as clients see it. */
export interface ServedModel {
  readonly name: string;
  /** Forecasts any horizon. */
  readonly forecaster: RolledOutForecaster;
  /** Seasons that one forecast covers. */
  readonly seasons: number;
  /** null: the model cannot be fine-tuned. */
  readonly tunable: Tunable | null;
}

/** Fine-tuning of a model. */
export interface Tunable {
  /** Number of weights. */
  readonly weightCount: number;
  /** The same model with fine-tuned weights. */
  withWeights(weights: TunedWeights): ServedModel;
  /**
   * Fine-tunes the weights of this model. Throws an HttpProblem when the request exceeds the limits; rejects soon after
   * `signal` aborts.
   */
  tune(request: TuningRequest, signal: AbortSignal): Promise<TunedWeights>;
}

/** Fine-tunes a pretrained model, or weights derived from it (null: the pretrained weights). */
export type TuneWeights = (
  model: string,
  base: TunedWeights | null,
  request: TuningRequest,
  signal: AbortSignal,
) => Promise<TunedWeights>;

export interface ServedModels {
  /** All names that `find` knows, sorted. */
  readonly names: readonly string[];
  find(name: string): ServedModel | null;
  /** The fine-tuned model that a request references, if any. */
  readonly finetuned?: ServedModel;
}

export const DEFAULT_MODEL = 'tsmodel-1';
/** Replaces models of the API that are not installed here. */
const STAND_IN = DEFAULT_MODEL;
const LONG_HORIZON = ['tsmodel-1-long-horizon', 'timegpt-1-long-horizon'];
const NAMED_BY_API = [...LONG_HORIZON, 'tsmodel-2.1', 'timegpt-2.1'];
const LONG_HORIZON_SEASONS = 7;
/** Five weeks, where a season is a day. */
const LONG_CONTEXT_SEASONS = 35;

/** The models of a catalog by name and alias, and under the names that the API defines. */
export function serveModels(catalog: ModelCatalog, forecasters: Forecasters, tune: TuneWeights): ServedModels {
  const known = [...catalog.names, ...catalog.aliases];
  const stoodIn = known.includes(STAND_IN) ? NAMED_BY_API.filter((name) => !known.includes(name)) : [];
  const served = new Map<string, ServedModel>();
  return {
    names: [...known, ...stoodIn].sort(),
    find(name) {
      if (served.has(name)) return served.get(name)!;
      if (!known.includes(name) && !stoodIn.includes(name)) return null;
      const model = catalog.get(known.includes(name) ? name : STAND_IN);
      const seasons = LONG_HORIZON.includes(name) ? LONG_HORIZON_SEASONS : 1;
      served.set(name, serve({ model, seasons, forecasters, tune }, null));
      return served.get(name)!;
    },
  };
}

interface ModelToServe {
  readonly model: Model;
  readonly seasons: number;
  readonly forecasters: Forecasters;
  readonly tune: TuneWeights;
}

/** @param weights fine-tuned weights; null: the pretrained weights */
function serve(served: ModelToServe, weights: TunedWeights | null): ServedModel {
  const { model, seasons, forecasters, tune } = served;
  const { name, manifest } = model;
  const tunable: Tunable | null = manifest.tuning && {
    weightCount: weightCount(manifest.tuning),
    withWeights: (tuned) => serve(served, tuned),
    tune: (request, signal) => tune(name, weights, request, signal),
  };
  const forecaster = rollOut(forecasters.forecasterFor(name, 1, weights));
  return { name, forecaster, seasons, tunable };
}

/** The models that a key may use. `find` throws an HttpProblem 403 for the others. */
export function modelsOfKey(models: ServedModels, { models: allowed }: Pick<KeyLimits, 'models'>): ServedModels {
  if (allowed === null) return models;
  const mayUse = (name: string, model: ServedModel) => allowed.includes(name) || allowed.includes(model.name);
  return {
    names: models.names.filter((name) => mayUse(name, models.find(name)!)),
    find(name) {
      const model = models.find(name);
      if (model !== null && !mayUse(name, model)) throw new HttpProblem(403, `This key may not use the model ${name}`);
      return model;
    },
  };
}

/** The problem of an unknown `model`. */
export function unknownModel(models: ServedModels, where: 'query' | 'body'): FieldProblem {
  return fieldProblem([where, 'model'], `no such model; known are ${models.names.join(', ')}`);
}

/** The problem of a model that cannot be fine-tuned. */
export function untunable(
  models: ServedModels,
  { name }: ServedModel,
  field: 'model' | 'finetune_steps',
): FieldProblem {
  const tunable = models.names.map((each) => models.find(each)!).filter((model) => model.tunable !== null);
  const others = new Set(tunable.map((model) => model.name));
  const text = `model ${name} cannot be fine-tuned; those that can are ${[...others].sort().join(', ') || 'none'}`;
  return fieldProblem(['body', field], text);
}

/** The `input_size` and `horizon` of a model at a frequency. */
export function modelParams(
  model: ServedModel,
  frequency: FrequencyProfile,
): { readonly inputSize: number; readonly horizon: number } {
  return {
    inputSize: lookbackLength({ ...inputSettings(model, frequency), probabilities: [] }),
    horizon: horizonOf(model, frequency),
  };
}

function horizonOf({ forecaster: { limits }, seasons }: ServedModel, frequency: FrequencyProfile): number {
  return Math.min(seasonalHorizon(frequency) * seasons, limits.passHorizonMax);
}

/** Context and temporal aggregation of forecasts at a frequency. */
export function inputSettings(
  model: ServedModel,
  frequency: FrequencyProfile,
): { readonly context: number; readonly aggregation: TemporalAggregation | null } {
  const { limits } = model.forecaster;
  const long = Math.max(seasonalHorizon(frequency) * LONG_CONTEXT_SEASONS, horizonOf(model, frequency));
  return {
    context: model.seasons > 1 ? Math.min(limits.context, long) : forecastContext(frequency, limits.context),
    aggregation: aggregationOf(frequency, limits.context),
  };
}
