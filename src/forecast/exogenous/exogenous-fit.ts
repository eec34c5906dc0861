import { designValue, type ExogenousVariable, fitColumns, interceptAndSeason } from './design.ts';
import { fitRidge, type RidgeFit } from './ridge.ts';

/** What variables do to a series, as far as its past tells. */
export interface ExogenousFit {
  /** How much of the effect is each variable's; they add up to 1, or are all 0 where there is no effect. */
  readonly weights: Float64Array;
  /**
   * What each variable adds at rows `[start, start + length)` of `variables`; its mean effect is 0.
   * A variable that is null is not known there and adds nothing.
   */
  contributions(
    variables: readonly (ExogenousVariable | null)[],
    start: number,
    length: number,
  ): readonly Float64Array[];
}

/** Older rows say less and cost as much. */
const ROWS_MAX = 5_000;

export interface FitSettings {
  /** Rows in a season; null where the target is what a model missed: it took the season away. */
  readonly season: number | null;
  /** Lets others have a turn, several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Fits what the variables add to a target. What they have in common with its season counts as the season. A target that wanders is explained step
 * by step instead: two walks look related by their levels, not by their steps. Which of the two it is their leave-one-out errors tell: both are
 * those of forecasts one step ahead.
 * @param target as long as the variables; rows where it is NaN do not count
 * @param end only rows before it are looked at
 */
export async function fitExogenous(
  variables: readonly ExogenousVariable[],
  target: ArrayLike<number>,
  end: number,
  settings: FitSettings,
): Promise<ExogenousFit> {
  const rows: number[] = [];
  for (let row = end - 1; row >= 0 && rows.length < ROWS_MAX; row--) if (!Number.isNaN(target[row])) rows.push(row);
  const columns = fitColumns(variables, rows);
  const design: Float64Array[] = [];
  for (const column of columns) {
    await settings.pause();
    const variable = variables[column.variable];
    design.push(Float64Array.from(rows, (row) => designValue(column, variable, row)));
  }
  const observed = Float64Array.from(rows, (row) => target[row]);
  const { weights: effects } = await fitLevelsOrSteps(design, observed, rows, settings);
  const contributions: ExogenousFit['contributions'] = (given, start, length) => {
    const added = variables.map(() => new Float64Array(length));
    columns.forEach((column, j) => {
      const variable = given[column.variable];
      if (!variable || effects[j] === 0) return;
      const own = added[column.variable];
      for (let i = 0; i < length; i++) own[i] += effects[j] * designValue(column, variable, start + i);
    });
    return added;
  };
  return { weights: shares(contributions(variables, 0, end)), contributions };
}

/**
 * Explains the levels of a target or its steps. Of what a model missed the levels count, since it has followed the steps of what it saw; but they
 * wander, too, where the series does, so steps that show no effect deny it.
 * @param rows newest first, as are the columns and the target
 */
async function fitLevelsOrSteps(
  columns: readonly Float64Array[],
  target: Float64Array,
  rows: readonly number[],
  { season, pause }: FitSettings,
): Promise<RidgeFit> {
  const beside = interceptAndSeason(rows.slice(0, -1), season ?? Number.POSITIVE_INFINITY);
  /** @param memory how much of a value the next one keeps: 0 for levels, 1 for steps */
  const fitAt = (memory: number) => {
    // The same rows for each, or their errors could not be compared.
    const kept = (column: Float64Array) => column.subarray(0, -1).map((value, i) => value - memory * column[i + 1]);
    return fitRidge(columns.map(kept), kept(target), beside, pause);
  };
  const steps = await fitAt(1);
  if (season === null && steps.weights.every((weight) => weight === 0)) return steps;
  const levels = await fitAt(0);
  return season === null || levels.error <= steps.error ? levels : steps;
}

/** The fit of variables that do nothing. */
export function zeroEffect(variables: readonly ExogenousVariable[]): ExogenousFit {
  return {
    weights: new Float64Array(variables.length),
    contributions: (_given, _start, length) => variables.map(() => new Float64Array(length)),
  };
}

/** The sum over variables, row by row. */
export function sumContributions(contributions: readonly Float64Array[], length: number): Float64Array {
  const total = new Float64Array(length);
  for (const own of contributions) for (let i = 0; i < length; i++) total[i] += own[i];
  return total;
}

/** Shares of the variables in the sum of their deviations. */
function shares(contributions: readonly Float64Array[]): Float64Array {
  const sizes = Float64Array.from(contributions, (own) => {
    return Math.sqrt(own.reduce((sum, value) => sum + value * value, 0) / Math.max(1, own.length));
  });
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return total > 0 ? sizes.map((size) => size / total) : sizes;
}
