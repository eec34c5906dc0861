/** An exogenous variable; NaN if missing. */
export interface ExogenousVariable {
  readonly values: ArrayLike<number>;
  /** Each number is a category. */
  readonly categorical: boolean;
}

/**
 * A column of the design matrix: a numeric variable or the indicator of a category, standardised over the training
 * rows. There is no reference category: the penalty makes the effects unique and treats all categories alike.
 */
interface DesignColumn {
  readonly variable: number;
  /** null for a numeric variable. */
  readonly category: number | null;
  /** All categories of the training rows. */
  readonly known: ReadonlySet<number>;
  readonly mean: number;
  readonly deviation: number;
}

/** A variable with one row: its mean over the rows before `end`, or its most frequent category. */
export function typicalRow({ values, categorical }: ExogenousVariable, end: number): ExogenousVariable {
  const seen = Array.from({ length: Math.min(end, values.length) }, (_, i) => values[i]).filter(
    (v) => !Number.isNaN(v),
  );
  if (!categorical) return { values: [seen.reduce((sum, value) => sum + value, 0) / seen.length], categorical };
  const [mode = Number.NaN] = categoriesOf({ values: seen, categorical }, Array.from(seen.keys()));
  return { values: [mode], categorical };
}

/** The most frequent categories have a column each. The others have none. */
export const CATEGORIES_MAX = 30;

/** Standardised values are clipped: a sentinel value must not overflow. */
const DEVIATIONS_MAX = 1e6;

/** A deviation below this share of the mean is rounding. */
const ROUNDING = 1e-12;

/** Fits the columns on rows. A constant column is omitted. */
export function fitColumns(variables: readonly ExogenousVariable[], rows: readonly number[]): DesignColumn[] {
  return variables.flatMap((variable, index) => {
    const categories = variable.categorical ? categoriesOf(variable, rows) : [];
    const known = new Set(categories);
    return (variable.categorical ? categories.slice(0, CATEGORIES_MAX) : [null]).flatMap((category) => {
      const column = { variable: index, category, known, ...momentsOf(variable, category, rows) };
      return column.deviation > 0 ? [column] : [];
    });
  });
}

/** The standardised value of a column at a row of its variable. A missing value or an unseen category is the mean. */
export function designValue(column: DesignColumn, variable: ExogenousVariable, row: number): number {
  const { category, known, mean, deviation } = column;
  const value = rawValue(variable, category, row);
  if (Number.isNaN(value) || (category !== null && !known.has(variable.values[row]))) return 0;
  return Math.max(-DEVIATIONS_MAX, Math.min(DEVIATIONS_MAX, (value - mean) / deviation));
}

/** More Fourier terms overfit. */
const HARMONICS_MAX = 4;
/** Shortest history in which a season is identifiable. */
const SEASONS_MIN = 2;

/** Columns of the series itself: an intercept, and the Fourier terms of its season. */
export function interceptAndSeason(rows: readonly number[], season: number): Float64Array[] {
  const columnOf = (value: (row: number) => number) => Float64Array.from(rows, value);
  const columns = [columnOf(() => 1)];
  if (rows.length < SEASONS_MIN * season) return columns;
  for (let k = 1; k <= HARMONICS_MAX && 2 * k <= season; k++) {
    const angle = (2 * Math.PI * k) / season;
    columns.push(columnOf((row) => Math.cos(angle * row)));
    if (2 * k < season) columns.push(columnOf((row) => Math.sin(angle * row)));
  }
  return columns;
}

function rawValue({ values }: ExogenousVariable, category: number | null, row: number): number {
  const value = values[row];
  return category === null || Number.isNaN(value) ? value : Number(value === category);
}

/** The most frequent first. */
function categoriesOf({ values }: ExogenousVariable, rows: readonly number[]): number[] {
  const counts = new Map<number, number>();
  for (const row of rows) {
    const value = values[row];
    if (!Number.isNaN(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([a, often], [b, seldom]) => seldom - often || a - b).map(([category]) => category);
}

function momentsOf(variable: ExogenousVariable, category: number | null, rows: readonly number[]) {
  const present = rows.map((row) => rawValue(variable, category, row)).filter((value) => !Number.isNaN(value));
  const mean = present.reduce((sum, value) => sum + value, 0) / present.length;
  const squares = present.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / present.length);
  // A constant has a small deviation by rounding.
  return { mean, deviation: deviation > ROUNDING * Math.abs(mean) ? deviation : 0 };
}
