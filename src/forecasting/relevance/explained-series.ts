import type { ExogenousVariable } from '../exogenous/design.ts';

export interface ExplainedSeries {
  /** Oldest first, NaN if missing. */
  readonly values: ArrayLike<number>;
  /** Each as long as the values. */
  readonly variables: readonly ExogenousVariable[];
}

/** The values with mean 0 and deviation 1; null for a constant. */
export function standardised(values: ArrayLike<number>): Float64Array | null {
  const [count, sum] = sumOf(values, (value) => value);
  const mean = sum / count;
  const [, squares] = sumOf(values, (value) => (value - mean) ** 2);
  const deviation = Math.sqrt(squares / count);
  // A constant has a small deviation by rounding.
  if (!(deviation > ROUNDING * Math.abs(mean))) return null;
  return Float64Array.from(values, (value) => (value - mean) / deviation);
}

/** A deviation below this share of the mean is rounding. */
const ROUNDING = 1e-12;

/** The count and the sum over the values that are not missing. */
function sumOf(values: ArrayLike<number>, term: (value: number) => number): [count: number, sum: number] {
  let [count, sum] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    count++;
    sum += term(values[i]);
  }
  return [count, sum];
}

/** The most frequent categories of a variable in all histories, at most `max`; null for a numeric one. */
export function commonCategories(
  histories: readonly ExplainedSeries[],
  variable: number,
  max: number,
): number[] | null {
  if (!histories[0]?.variables[variable].categorical) return null;
  const counts = new Map<number, number>();
  for (const { variables } of histories) {
    const { values } = variables[variable];
    for (let i = 0; i < values.length; i++) {
      if (!Number.isNaN(values[i])) counts.set(values[i], (counts.get(values[i]) ?? 0) + 1);
    }
  }
  const often = [...counts].sort(([a, first], [b, second]) => second - first || a - b);
  return often.slice(0, max).map(([category]) => category);
}
