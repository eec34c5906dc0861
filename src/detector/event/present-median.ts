/** The median of the values that are not missing, the upper one of two; NaN where no value is there. */
export function presentMedian(values: readonly number[]): number {
  const present = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return present.length === 0 ? Number.NaN : present[present.length >> 1];
}
