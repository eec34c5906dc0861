import type { Aggregate } from './points.ts';

/** Values of the points of a time step, by event time. */
interface StepValues {
  readonly values: readonly number[];
  /** Seconds that each value covers; those of rates weigh their mean. */
  readonly seconds: readonly number[] | null;
}

/**
 * One value of several, at least one. Percentiles are interpolated between the two values around their rank, as
 * `quantile_over_time()` of Prometheus does. Sums are computed in the order of time, not of arrival.
 */
export function aggregateOf(aggregate: Aggregate, { values, seconds }: StepValues): number {
  switch (aggregate) {
    case 'mean':
      return seconds === null ? sumOf(values) / values.length : weightedMean(values, seconds);
    case 'sum':
      return sumOf(values);
    case 'min':
      return values.reduce((least, value) => Math.min(least, value));
    case 'max':
      return values.reduce((most, value) => Math.max(most, value));
    case 'last':
      return values[values.length - 1];
    case 'count':
      return values.length;
    case 'p50':
      return percentile(values, 0.5);
    case 'p95':
      return percentile(values, 0.95);
  }
}

function sumOf(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Mean of rates over the whole time. */
function weightedMean(values: readonly number[], seconds: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * seconds[i];
  return sum / sumOf(seconds);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = share * (sorted.length - 1);
  const below = Math.floor(rank);
  const above = Math.min(below + 1, sorted.length - 1);
  const weight = rank - below;
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}
