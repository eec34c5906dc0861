import { type RolledOutForecaster, rollOut } from '../../forecasting/autoregressive-roll-out.ts';
import type { ForecastBatch, QuantileForecaster } from '../../forecasting/forecaster.ts';
import { lookbackLength } from '../../forecasting/multi-resolution.ts';
import type { TemporalAggregation } from '../../forecasting/temporal-aggregation.ts';
import type { Model, ModelCatalog } from '../../models/catalog.ts';
import type { Forecasters } from '../../models/onnx-forecaster.ts';
import type { TunedWeights } from '../../models/tuned-weights.ts';
import type { TuningRequest } from '../../models/tuning/tuning-bytes.ts';
import { weightCount } from '../../models/tuning-graphs.ts';
import type { KeyLimits } from '../../store/keys/api-keys.ts';
import { HttpProblem } from '../wire/problem.ts';
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

export interface Tunable {
  readonly weightCount: number;
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
      served.set(name, serve({ model, alone: aloneOf(model, catalog), seasons, forecasters, tune }, null));
      return served.get(name)!;
    },
  };
}

/** Forecasts of a series alone are equal, bit for bit: the network for groups extends that of the same weights. */
function aloneOf({ manifest }: Model, catalog: ModelCatalog): Model | null {
  const { tuning, membersMax } = manifest;
  if (membersMax === undefined || tuning === null) return null;
  const models = catalog.names.map((name) => catalog.get(name));
  return (
    models.find((other) => {
      const { membersMax: members, tuning: tuned, context, horizonMax } = other.manifest;
      const fits = context === manifest.context && horizonMax === manifest.horizonMax;
      return fits && members === undefined && tuned?.source.sha256 === tuning.source.sha256;
    }) ?? null
  );
}

/** Groups by the one, series alone and groups of one by the other. */
function byRows(together: QuantileForecaster, alone: QuantileForecaster): QuantileForecaster {
  const route = ({ isGroup = false, ...batch }: ForecastBatch) =>
    isGroup && batch.rows > 1 ? ([together, { ...batch, isGroup }] as const) : ([alone, batch] as const);
  return {
    limits: together.limits,
    forecast(given, signal) {
      const [forecaster, batch] = route(given);
      return forecaster.forecast(batch, signal);
    },
    forecastQuantiles(given, signal) {
      const [forecaster, batch] = route(given);
      return forecaster.forecastQuantiles(batch, signal);
    },
  };
}

interface ModelToServe {
  readonly model: Model;
  /** The network of the same weights for series alone, which costs less; null: none. */
  readonly alone: Model | null;
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
  const together = forecasters.forecasterFor(name, 1, weights);
  const alone = weights === null ? served.alone : null;
  const forecaster = rollOut(alone === null ? together : byRows(together, forecasters.forecasterFor(alone.name, 1)));
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

export function unknownModel({ names }: ServedModels): string {
  return `no such model; known are ${names.join(', ')}`;
}

/** The problem of a model that cannot be fine-tuned. */
export function untunable(models: ServedModels, { name }: ServedModel): string {
  const tunable = models.names.map((each) => models.find(each)!).filter((model) => model.tunable !== null);
  const others = new Set(tunable.map((model) => model.name));
  return `model ${name} cannot be fine-tuned; those that can are ${[...others].sort().join(', ') || 'none'}`;
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
