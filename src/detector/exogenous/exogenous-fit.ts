import { designValue, type ExogenousVariable, learnColumns } from './design.ts';
import { fitRidge } from './ridge.ts';

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

/**
 * Fits what the variables add to a target.
 * @param target as long as the variables; rows where it is NaN do not count
 * @param end only rows before it are looked at
 * @param pause lets others have a turn, several times in a fit
 */
export async function fitExogenous(
  variables: readonly ExogenousVariable[],
  target: ArrayLike<number>,
  end: number,
  pause: () => Promise<unknown>,
): Promise<ExogenousFit> {
  const rows: number[] = [];
  for (let row = end - 1; row >= 0 && rows.length < ROWS_MAX; row--) if (!Number.isNaN(target[row]!)) rows.push(row);
  const columns = learnColumns(variables, rows);
  const design = columns.map((column) =>
    Float64Array.from(rows, (row) => designValue(column, variables[column.variable]!, row)),
  );
  const { weights: effects } = await fitRidge(
    design,
    Float64Array.from(rows, (row) => target[row]!),
    pause,
  );
  const contributions: ExogenousFit['contributions'] = (given, start, length) => {
    const added = variables.map(() => new Float64Array(length));
    columns.forEach((column, j) => {
      const variable = given[column.variable];
      if (!variable || effects[j] === 0) return;
      const own = added[column.variable]!;
      for (let i = 0; i < length; i++) own[i]! += effects[j]! * designValue(column, variable, start + i);
    });
    return added;
  };
  return { weights: shares(contributions(variables, 0, end)), contributions };
}

/** The fit of variables that do nothing. */
export function noEffectOf(variables: readonly ExogenousVariable[]): ExogenousFit {
  return {
    weights: new Float64Array(variables.length),
    contributions: (_given, _start, length) => variables.map(() => new Float64Array(length)),
  };
}

/** The sum over variables, row by row. */
export function totalOf(contributions: readonly Float64Array[], length: number): Float64Array {
  const total = new Float64Array(length);
  for (const own of contributions) for (let i = 0; i < length; i++) total[i]! += own[i]!;
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
