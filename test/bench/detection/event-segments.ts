/** A run of rows: `start <= row < end`. */
export interface Segment {
  readonly start: number;
  readonly end: number;
}

/** Runs of rows that are set, ascending. */
export function segmentsOf(labels: ArrayLike<number>): Segment[] {
  const segments: Segment[] = [];
  let start = -1;
  for (let row = 0; row <= labels.length; row++) {
    const inside = row < labels.length && labels[row] > 0;
    if (inside && start < 0) start = row;
    if (!inside && start >= 0) {
      segments.push({ start, end: row });
      start = -1;
    }
  }
  return segments;
}

export function maxWithin(values: ArrayLike<number>, { start, end }: Segment): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let row = start; row < end; row++) if (values[row] > max) max = values[row];
  return max;
}

/** Positions of the values, largest value first. */
export function descendingOrder(values: Float64Array): Uint32Array {
  return Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
}

/** First position of an ascending array whose value is at least `value`. */
export function lowerBound(ascending: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** NaN where there is none; the mean of the middle two where their number is even. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Interpolated between the neighbours; NaN where there is no value. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percent) / 100;
  const low = Math.floor(place);
  return sorted[low] + (place - low) * (sorted[Math.ceil(place)] - sorted[low]);
}
