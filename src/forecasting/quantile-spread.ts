import { normalQuantile } from './normal-distribution.ts';

/** The quantiles whose distance measures the deviation of a model. */
const LOW = 0.1;
const HIGH = 0.9;

/**
 * Standard deviation of a normal distribution with the distance of the 10 % and 90 % quantiles (the nearest that the
 * model has), averaged over the horizon of one row.
 * @param quantiles `horizon * levels.length` numbers from `start`, ascending for each step
 */
export function deviationOfQuantiles(
  quantiles: Float32Array,
  start: number,
  { levels, horizon }: { readonly levels: readonly number[]; readonly horizon: number },
): number {
  const [low, high] = [nearest(levels, LOW), nearest(levels, HIGH)];
  if (low === high) return 0;
  const distance = normalQuantile(levels[high]) - normalQuantile(levels[low]);
  let sum = 0;
  for (let k = 0; k < horizon; k++) {
    const row = start + k * levels.length;
    sum += quantiles[row + high] - quantiles[row + low];
  }
  return sum / horizon / distance;
}

function nearest(levels: readonly number[], wanted: number): number {
  return levels.reduce((best, level, i) => (Math.abs(level - wanted) < Math.abs(levels[best] - wanted) ? i : best), 0);
}
