import { CATEGORIES_MAX } from '../../../forecasting/exogenous/design.ts';
import type { BodyProblems } from '../../wire/problem.ts';
import type { SeriesBody } from '../../wire/schema/tasks/series-schema.ts';

/** Limits the time of the regression. A numeric variable makes one column, a category one column per frequent value. */
const COLUMNS_MAX = 200;

/** Refuses inconsistent fields of a request that matches its schema. */
export function checkSeries(
  problems: BodyProblems,
  { y, sizes, X, X_future: future, categorical_exog: categorical, start_datetime: starts, texts }: SeriesBody,
): void {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total !== y.length) {
    problems.add(['series', 'sizes'], `sizes add up to ${total}, but y has ${y.length} values`);
  }
  if (starts && starts.length !== sizes.length) {
    problems.add(['series', 'start_datetime'], `there are ${starts.length} beginnings, but ${sizes.length} series`);
  }
  const columns = X?.length ?? 0;
  const [hasTexts, isCategorical] = [new Set(texts), new Set(categorical)];
  X?.forEach((column, i) => {
    const path = ['series', 'X', i];
    if (column.length !== y.length) {
      problems.add(path, `a variable has ${column.length} values, but y has ${y.length}`);
    }
    if (hasTexts.has(i) && !isCategorical.has(i)) {
      problems.add(path, 'a variable that holds texts must be named in categorical_exog');
    }
  });
  categorical?.forEach((index, i) => {
    if (index >= columns) problems.add(['series', 'categorical_exog', i], `there is no column ${index} in X`);
  });
  if ((future?.length ?? 0) > columns) {
    problems.add(['series', 'X_future'], `X_future has ${future?.length} variables, but X has ${columns}`);
  }
}

/** Refuses variables that a regression cannot use. */
export function checkVariables(
  problems: BodyProblems,
  { X, categorical_exog: categorical }: SeriesBody,
  pastOnly: readonly number[] | null | undefined,
): void {
  const isCategorical = new Set(categorical);
  const used = (X ?? []).reduce((sum, values, i) => sum + (isCategorical.has(i) ? categoriesIn(values) : 1), 0);
  if (used > COLUMNS_MAX) {
    const text =
      `X makes ${used} columns, one for each number and for each frequent value of a category; at most ` +
      `${COLUMNS_MAX} can be used`;
    problems.add(['series', 'X'], text);
  }
  pastOnly?.forEach((index, i) => {
    if (index >= (X?.length ?? 0)) problems.add(['hist_exog', i], `there is no column ${index} in X`);
  });
}

/** Counts distinct values up to the maximum. */
function categoriesIn(values: Float64Array): number {
  const seen = new Set<number>();
  for (const value of values) if (seen.add(value).size === CATEGORIES_MAX) break;
  return seen.size;
}
