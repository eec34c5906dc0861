import type { ExogenousVariable } from '../exogenous/design.ts';
import { normalQuantile } from '../normal-distribution.ts';
import { commonCategories, type ExplainedSeries, standardised } from './explained-series.ts';

/** With fifteen lags the documentation's retail example of the public client has its published weights. */
const LAGS_MAX = 15;
/** Rows for each coefficient; with fewer rows there are fewer lags. */
const ROWS_PER_COEFFICIENT = 3;
/** A category beyond the most frequent ones has no column: each costs a column a lag. */
const CATEGORIES_MAX = 5;
/** A smaller share of unexplained variance is rounding: such a column is collinear, such a series explained. */
const UNEXPLAINED_MIN = 1e-6;
/** The F test's level of significance. */
const SIGNIFICANCE = 0.01;
/** Multiplications between two pauses: some milliseconds. */
const PAUSE_AFTER = 4_000_000;

/**
 * How much the lags of a variable add to a linear forecast from the lags of the series itself (Granger 1969): the
 * adjusted share of the variance that they explain, or 0 where an F test finds no significance.
 * Series are pooled, each standardised; lags never reach into another series.
 * @param variable its index in each history
 */
export async function grangerRelevance(
  histories: readonly ExplainedSeries[],
  variable: number,
  pause: () => Promise<unknown>,
): Promise<number> {
  const categories = commonCategories(histories, variable, CATEGORIES_MAX);
  const pooled = histories.flatMap(({ values, variables }) => {
    const series = standardised(values);
    return series === null ? [] : [{ series, columns: columnsOf(variables[variable], categories) }];
  });
  const width = categories?.length ?? 1;
  const lags = lagsFor(
    pooled.map(({ series }) => series.length),
    width,
  );
  if (lags === 0) return 0;
  const { gram, rows, series } = await momentsOf(pooled, { lags, width }, pause);
  const { own, all } = explainedVariance(gram, lags);
  const [restLeft, allLeft] = [rows - series - own.rank, rows - series - all.rank];
  const added = all.rank - own.rank;
  if (added === 0 || allLeft < 1) return 0;
  const rounding = UNEXPLAINED_MIN * gram[gram.length - 1][gram.length - 1];
  const [without, using] = [Math.max(own.left, rounding), Math.max(all.left, rounding)];
  const statistic = (without - using) / added / (using / allLeft);
  if (!isSignificant(statistic, added, allLeft)) return 0;
  return Math.max(0, 1 - using / allLeft / (without / restLeft));
}

/** The columns of a variable: its standardised values, or the indicators of categories. NaN if it is missing. */
function columnsOf({ values }: ExogenousVariable, categories: readonly number[] | null): ArrayLike<number>[] {
  if (categories === null) return [standardised(values) ?? new Float64Array(values.length)];
  return categories.map((category) =>
    Float64Array.from(values, (value) => (Number.isNaN(value) ? Number.NaN : Number(value === category))),
  );
}

/** The most lags for which the rows suffice, less one in each series for its mean; 0 if there are too few. */
function lagsFor(lengths: readonly number[], width: number): number {
  for (let lags = LAGS_MAX; lags > 0; lags--) {
    const rows = lengths.reduce((sum, length) => sum + Math.max(0, length - lags - 1), 0);
    if (rows >= ROWS_PER_COEFFICIENT * (1 + lags * (1 + width))) return lags;
  }
  return 0;
}

/**
 * The products of all columns, summed over the rows without a missing value: intercept, own lags, lags of the variable,
 * and last the value to forecast.
 */
async function momentsOf(
  pooled: readonly { readonly series: Float64Array; readonly columns: readonly ArrayLike<number>[] }[],
  { lags, width }: { readonly lags: number; readonly width: number },
  pause: () => Promise<unknown>,
) {
  const size = 2 + lags * (1 + width);
  const gram = Array.from({ length: size }, () => new Float64Array(size));
  const row = new Float64Array(size);
  row[0] = 1;
  const perPause = Math.ceil(PAUSE_AFTER / size ** 2);
  let [rows, seen, since] = [0, 0, 0];
  for (const { series, columns } of pooled) {
    const before = rows;
    for (let t = lags; t < series.length; t++) {
      if (since++ === perPause) {
        await pause();
        since = 0;
      }
      let at = 1;
      for (let lag = 1; lag <= lags; lag++) row[at++] = series[t - lag];
      for (const column of columns) for (let lag = 1; lag <= lags; lag++) row[at++] = column[t - lag];
      row[at] = series[t];
      if (row.some(Number.isNaN)) continue;
      rows++;
      for (let i = 0; i < size; i++) {
        // Most indicators of categories are 0.
        if (row[i] !== 0) for (let j = 0; j <= i; j++) gram[i][j] += row[i] * row[j];
      }
    }
    if (rows > before) seen++;
  }
  return { gram, rows, series: seen };
}

/**
 * The sum of squares of the last column that is left unexplained by its own lags, and by all columns, from a Cholesky
 * factor of their products. Collinear columns are omitted. `rank`: columns without the intercept.
 */
function explainedVariance(gram: readonly Float64Array[], lags: number) {
  const last = gram.length - 1;
  const factor = gram.map((row) => row.slice());
  let left = gram[last][last];
  let rank = -1;
  let own = { left, rank: 0 };
  for (let j = 0; j < last; j++) {
    let pivot = factor[j][j];
    for (let k = 0; k < j; k++) pivot -= factor[j][k] ** 2;
    const isCollinear = !(pivot > UNEXPLAINED_MIN * gram[j][j]);
    const root = isCollinear ? Number.POSITIVE_INFINITY : Math.sqrt(pivot);
    for (let i = j + 1; i <= last; i++) {
      let sum = factor[i][j];
      for (let k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = sum / root;
    }
    factor[j][j] = isCollinear ? 0 : root;
    left -= factor[last][j] ** 2;
    if (!isCollinear) rank++;
    if (j === lags) own = { left, rank };
  }
  return { own, all: { left, rank } };
}

/** True if F of so many degrees of freedom is beyond its quantile, by a cube-root approximation (Paulson 1942). */
function isSignificant(statistic: number, added: number, left: number): boolean {
  if (!(statistic > 0)) return false;
  const [a, b] = [2 / (9 * added), 2 / (9 * left)];
  const root = Math.cbrt(statistic);
  return ((1 - b) * root - (1 - a)) / Math.sqrt(b * root * root + a) > normalQuantile(1 - SIGNIFICANCE);
}
