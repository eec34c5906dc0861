import { type RolledOutForecaster, rollOut } from '../detector/roll-out.ts';
import type { ModelCatalog } from '../model/catalog.ts';
import type { Forecasters } from '../model/forecaster.ts';
import { forecastContext, seasonalHorizon } from './frequency-profile.ts';
import { type FieldProblem, fieldProblem } from './problem.ts';

/** A model as requests know it. */
export interface ServedModel {
  readonly name: string;
  /** Forecasts any horizon. */
  readonly forecaster: RolledOutForecaster;
  /** Seasons that one forecast is meant to cover. */
  readonly seasons: number;
}

export interface ServedModels {
  /** Every name that `find` knows, sorted. */
  readonly names: readonly string[];
  find(name: string): ServedModel | null;
}

export const DEFAULT_MODEL = 'tsmodel-1';
/** Takes the place of models that the API names and this installation does not have. */
const STAND_IN = DEFAULT_MODEL;
const LONG_HORIZON = ['tsmodel-1-long-horizon', 'timegpt-1-long-horizon'];
const NAMED_BY_API = [...LONG_HORIZON, 'tsmodel-2.1', 'timegpt-2.1'];
const LONG_HORIZON_SEASONS = 7;
/** A week seen five times over, where a season is a day. */
const LONG_CONTEXT_SEASONS = 35;

/** The models of a catalog, by their names, their aliases, and the names that the API promises. */
export function serveModels(catalog: ModelCatalog, forecasters: Forecasters): ServedModels {
  const known = [...catalog.names, ...catalog.aliases];
  const stoodIn = known.includes(STAND_IN) ? NAMED_BY_API.filter((name) => !known.includes(name)) : [];
  return {
    names: [...known, ...stoodIn].sort(),
    find(name) {
      if (!known.includes(name) && !stoodIn.includes(name)) return null;
      const model = catalog.get(known.includes(name) ? name : STAND_IN);
      return {
        name: model.name,
        forecaster: rollOut(forecasters.forecasterFor(model.name, 1)),
        seasons: LONG_HORIZON.includes(name) ? LONG_HORIZON_SEASONS : 1,
      };
    },
  };
}

/** The problem of a request whose `model` nobody knows. */
export function unknownModel(models: ServedModels, where: 'query' | 'body'): FieldProblem {
  return fieldProblem([where, 'model'], `no such model; known are ${models.names.join(', ')}`);
}

/** What a client is told to send and ask for: observations that the model looks at, and steps it is meant to forecast. */
export function modelParams(
  { forecaster: { limits }, seasons }: ServedModel,
  freq: string,
): { readonly inputSize: number; readonly horizon: number } {
  const season = seasonalHorizon(freq);
  const horizon = Math.min(season * seasons, limits.passHorizonMax);
  if (seasons === 1) return { inputSize: forecastContext(freq, limits.context), horizon };
  return { inputSize: Math.min(limits.context, Math.max(season * LONG_CONTEXT_SEASONS, horizon)), horizon };
}
