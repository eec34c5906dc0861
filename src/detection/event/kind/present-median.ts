/** The median of the values that are not missing, the upper one of two; NaN if no value is there. */
export function presentMedian(values: readonly number[]): number {
  // Typed arrays sort numbers in a third of the time, and NaN behind them.
  const sorted = Float64Array.from(values).sort();
  let count = sorted.length;
  while (count > 0 && Number.isNaN(sorted[count - 1])) count--;
  return count === 0 ? Number.NaN : sorted[count >> 1];
}
