import { EFFECT_ROWS_MIN } from '../../../forecasting/exogenous/exogenous-fit.ts';
import type { ContributionKind } from '../../wire/schema/tasks/series-schema.ts';
import { joined, type WireNumbers } from '../../wire/wire-answer.ts';
import type { ForecastEffect } from './attribution.ts';
import type { SeriesQuestion } from './request-reader.ts';

/** The fields of an answer that show exogenous effects. */
export function exogenousFields(
  effects: readonly ForecastEffect[],
  mean: WireNumbers,
  { series, contributions }: Pick<SeriesQuestion, 'series'> & { readonly contributions: ContributionKind | null },
) {
  const { variableCount } = series;
  return {
    weights_x: canHaveEffects(series) ? meanWeights(effects, variableCount) : null,
    feature_contributions:
      contributions !== null && variableCount > 0 ? contributionRows(effects, mean, variableCount) : null,
  };
}

/** True if some variable varies in a series that is long enough. */
function canHaveEffects({ variables, sizes }: SeriesQuestion['series']): boolean {
  return sizes.some((size, i) => {
    return size >= EFFECT_ROWS_MIN && variables !== null && variables[i].some(({ values }) => varies(values));
  });
}

function varies(values: Float64Array): boolean {
  const first = values.find((value) => !Number.isNaN(value));
  return first !== undefined && values.some((value) => !Number.isNaN(value) && value !== first);
}

function meanWeights(fits: readonly ForecastEffect[], variables: number): number[] {
  const mean = new Array<number>(variables).fill(0);
  for (const { weights } of fits) {
    for (let i = 0; i < variables; i++) mean[i] += weights[i] / fits.length;
  }
  return mean;
}

/** The contribution of each variable to `mean`, and the remainder as the last row. The rows sum to `mean`. */
function contributionRows(fits: readonly ForecastEffect[], mean: WireNumbers, variables: number): WireNumbers[] {
  const rows = Array.from({ length: variables }, (_, v) => joined(fits.map(({ contributions }) => contributions[v])));
  const left = mean.slice();
  for (const row of rows) for (let i = 0; i < left.length; i++) left[i] -= row[i];
  return [...rows, left];
}
