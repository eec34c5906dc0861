import { EFFECT_ROWS_MIN } from '../../../forecast/exogenous/exogenous-fit.ts';
import type { ContributionKind } from '../../wire/schema/series-schema.ts';
import { joined, type WireNumbers } from '../../wire/wire-answer.ts';
import type { ForecastEffect } from './attribution.ts';
import type { SeriesQuestion } from './series-question.ts';

/** The fields of an answer that show exogenous effects. */
export function exogenousFields(
  effects: readonly ForecastEffect[],
  mean: WireNumbers,
  { series, contributions }: Pick<SeriesQuestion, 'series'> & { readonly contributions: ContributionKind | null },
) {
  const { variableCount, sizes } = series;
  return {
    weights_x: meanWeights(effects, variableCount, sizes),
    feature_contributions:
      contributions !== null && variableCount > 0 ? contributionRows(effects, mean, variableCount) : null,
  };
}

/**
 * The mean share of each variable in the effect; null without variables, or where every series is too short for one.
 */
function meanWeights(fits: readonly ForecastEffect[], variables: number, sizes: readonly number[]): number[] | null {
  if (variables === 0 || sizes.every((size) => size < EFFECT_ROWS_MIN)) return null;
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
