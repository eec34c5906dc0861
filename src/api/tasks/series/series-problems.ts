import { CATEGORIES_MAX } from '../../../forecasting/exogenous/design.ts';
import type { TuningLoss } from '../../../models/tuning-graphs.ts';
import { type FieldProblem, fieldProblem } from '../../wire/problem.ts';
import type { SeriesBody } from '../../wire/schema/series-schema.ts';

/** Common fields of requests with series. */
export interface SeriesRequest {
  readonly series: SeriesBody;
  readonly model?: string;
  readonly finetune_steps?: number;
  readonly finetune_loss?: TuningLoss;
  readonly finetune_depth?: number;
  readonly clean_ex_first?: boolean;
  readonly multivariate?: boolean | null;
  readonly hist_exog?: readonly number[] | null;
}

const SERIES = ['body', 'series'] as const;
/** Limits the time of the regression. A numeric variable makes one column, a category one column per frequent value. */
const COLUMNS_MAX = 200;

/** Inconsistencies of a request that matches its schema. */
export function seriesProblems(request: Pick<SeriesRequest, 'series'>): FieldProblem[] {
  const {
    y,
    sizes,
    X,
    X_future: future,
    categorical_exog: categorical,
    start_datetime: starts,
    texts,
  } = request.series;
  const problems: FieldProblem[] = [];
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total !== y.length) {
    problems.push(fieldProblem([...SERIES, 'sizes'], `sizes add up to ${total}, but y has ${y.length} values`));
  }
  if (starts && starts.length !== sizes.length) {
    const text = `there are ${starts.length} beginnings, but ${sizes.length} series`;
    problems.push(fieldProblem([...SERIES, 'start_datetime'], text));
  }
  const columns = X?.length ?? 0;
  const [hasTexts, isCategorical] = [new Set(texts), new Set(categorical)];
  X?.forEach((column, i) => {
    const loc = [...SERIES, 'X', i];
    if (column.length !== y.length) {
      problems.push(fieldProblem(loc, `a variable has ${column.length} values, but y has ${y.length}`));
    }
    if (hasTexts.has(i) && !isCategorical.has(i)) {
      problems.push(fieldProblem(loc, `a variable that holds texts must be named in categorical_exog`));
    }
  });
  categorical?.forEach((index, i) => {
    if (index >= columns) {
      problems.push(fieldProblem([...SERIES, 'categorical_exog', i], `there is no column ${index} in X`));
    }
  });
  if ((future?.length ?? 0) > columns) {
    problems.push(
      fieldProblem([...SERIES, 'X_future'], `X_future has ${future?.length} variables, but X has ${columns}`),
    );
  }
  return problems;
}

/** Problems of variables that a regression would use. */
export function exogenousProblems({ series, hist_exog: pastOnly }: SeriesRequest): FieldProblem[] {
  const columns = series.X?.length ?? 0;
  const problems: FieldProblem[] = [];
  const used = columnsOf(series);
  if (used > COLUMNS_MAX) {
    const text =
      `X makes ${used} columns, one for each number and for each frequent value of a category; at most ` +
      `${COLUMNS_MAX} can be used`;
    problems.push(fieldProblem([...SERIES, 'X'], text));
  }
  pastOnly?.forEach((index, i) => {
    if (index < columns) return;
    problems.push(fieldProblem(['body', 'hist_exog', i], `there is no column ${index} in X`));
  });
  return problems;
}

function columnsOf({ X, categorical_exog: categorical }: SeriesBody): number {
  const isCategorical = new Set(categorical);
  const columnsOfOne = (values: Float64Array, i: number) => (isCategorical.has(i) ? categoriesIn(values) : 1);
  return (X ?? []).reduce((sum, values, i) => sum + columnsOfOne(values, i), 0);
}

/** Counts distinct values up to the maximum. */
function categoriesIn(values: Float64Array): number {
  const seen = new Set<number>();
  for (const value of values) if (seen.add(value).size === CATEGORIES_MAX) break;
  return seen.size;
}

const SHORT_SERIES_PROBLEMS_MAX = 10;

/** Problems of series shorter than `needed`, limited to the first few. */
export function tooShort(sizes: readonly number[], needed: number, why: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (let i = 0; i < sizes.length && problems.length < SHORT_SERIES_PROBLEMS_MAX; i++) {
    if (sizes[i] >= needed) continue;
    const text = `series ${i} has ${sizes[i]} values, too few ${why}: at least ${needed} are needed`;
    problems.push(fieldProblem([...SERIES, 'sizes', i], text));
  }
  return problems;
}
