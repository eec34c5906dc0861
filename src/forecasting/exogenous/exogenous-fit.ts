import { designValue, type ExogenousVariable, fitColumns, interceptAndSeason, typicalRow } from './design.ts';
import { explainedBy, fitRidge, type RidgeFit } from './ridge.ts';

/** Estimated effects of exogenous variables on a series. */
export interface ExogenousFit {
  /** Relative weight of each variable in the effect. They add up to 1, or are all 0 without an effect. */
  readonly weights: Float64Array;
  /**
   * Contribution of each variable at rows `[start, start + length)` of `variables`; 0 on the mean over the training
   * rows. A variable that is null is unknown there and contributes 0.
   */
  contributions(
    variables: readonly (ExogenousVariable | null)[],
    start: number,
    length: number,
  ): readonly Float64Array[];
  /** Contribution of each variable at its mean, or its most frequent category, over the rows before `end`. */
  typical(variables: readonly (ExogenousVariable | null)[], end: number): readonly number[];
}

/** Training rows, the newest. */
const ROWS_MAX = 5_000;
/** Shorter series have no effects. */
export const EFFECT_ROWS_MIN = 4;
/** Share of its effect that a variable keeps which the season explains. The rest belongs to the season. */
const SEASONAL_SHARE = 0.05;

interface FitSettings {
  /** Rows in a season; null if the target is a model's residuals, which have no season. */
  readonly season: number | null;
  /** Yields to the event loop; called several times in a fit. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Regresses a target on the variables. What they share with the season of the target is attributed to the season; a
 * variable that the season explains altogether has a share of what both explain, so that it matters a little. For a
 * target with a unit root the regression is on first differences, since two random walks correlate in levels but not in
 * differences (spurious regression). The smaller leave-one-out error chooses between the two: both are errors one step
 * ahead.
 * @param target as long as the variables; rows where it is NaN are omitted
 */
export async function fitExogenous(
  variables: readonly ExogenousVariable[],
  target: ArrayLike<number>,
  settings: FitSettings & { readonly end: number },
): Promise<ExogenousFit> {
  const { end } = settings;
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
  const regression = { columns: design, target: observed, rows };
  const { weights } = await fitLevelsOrDifferences(regression, settings);
  const shares = await seasonalEffects(regression, settings);
  const effects = weights.map((weight, j) => weight + shares[j]);
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
  return {
    weights: sharesOf(contributions(variables, 0, end)),
    contributions,
    typical(given, before) {
      const rows = given.map((variable) => variable && typicalRow(variable, before));
      return contributions(rows, 0, 1).map(([own]) => own);
    },
  };
}

/** The columns of the variables and the target at `rows`, newest first. */
interface Regression {
  readonly columns: readonly Float64Array[];
  readonly target: Float64Array;
  readonly rows: readonly number[];
}

/**
 * Fits the levels of a target or its first differences. For the residuals of a model (no season) the levels are fitted,
 * since the model has already followed the series; but there is no effect where the differences show none, because
 * residuals of a random walk wander, too.
 */
async function fitLevelsOrDifferences(
  { columns, target, rows }: Regression,
  { season, pause }: FitSettings,
): Promise<RidgeFit> {
  const unpenalised = interceptAndSeason(rows.slice(0, -1), season ?? Number.POSITIVE_INFINITY);
  /** @param order of differencing: 0 for levels, 1 for first differences */
  const fitAt = (order: 0 | 1) => {
    // The same rows for both orders, so that their errors are comparable.
    const differenced = (column: Float64Array) =>
      column.subarray(0, -1).map((value, i) => value - order * column[i + 1]);
    return fitRidge({ columns: columns.map(differenced), target: differenced(target), unpenalised, pause });
  };
  const differences = await fitAt(1);
  if (season === null && differences.weights.every((weight) => weight === 0)) return differences;
  const levels = await fitAt(0);
  return season === null || levels.error <= differences.error ? levels : differences;
}

/** Shrunk effects of the columns that the season explains; 0 for the others. */
async function seasonalEffects({ columns, target, rows }: Regression, { season, pause }: FitSettings) {
  const effects = new Float64Array(columns.length);
  if (season === null || rows.length < EFFECT_ROWS_MIN) return effects;
  const [intercept, ...terms] = interceptAndSeason(rows, season);
  if (terms.length === 0) return effects;
  const explained = explainedBy([intercept, ...terms], columns);
  const seasonal = columns.flatMap((_, j) => (explained[j] ? [j] : []));
  if (seasonal.length === 0) return effects;
  const own = seasonal.map((j) => columns[j]);
  const { weights } = await fitRidge({ columns: own, target, unpenalised: [intercept], pause });
  for (const [i, j] of seasonal.entries()) effects[j] = SEASONAL_SHARE * weights[i];
  return effects;
}

/** A fit without any effect. */
export function zeroEffectFit(variables: readonly ExogenousVariable[]): ExogenousFit {
  return {
    weights: new Float64Array(variables.length),
    contributions: (_given, _start, length) => variables.map(() => new Float64Array(length)),
    typical: () => variables.map(() => 0),
  };
}

/** The sum over variables, row by row. */
export function sumContributions(contributions: readonly Float64Array[], length: number): Float64Array {
  const total = new Float64Array(length);
  for (const own of contributions) for (let i = 0; i < length; i++) total[i] += own[i];
  return total;
}

/** Shares of the variables in the sum of their deviations. */
function sharesOf(contributions: readonly Float64Array[]): Float64Array {
  const sizes = Float64Array.from(contributions, (own) => {
    return Math.sqrt(own.reduce((sum, value) => sum + value * value, 0) / Math.max(1, own.length));
  });
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return total > 0 ? sizes.map((size) => size / total) : sizes;
}
