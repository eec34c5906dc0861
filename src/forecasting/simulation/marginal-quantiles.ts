import { normalQuantile } from '../normal-distribution.ts';

/** Lower tail of the grid, beyond the percentiles. It holds the least of 10,000 paths. */
const TAIL = [0.00005, 0.0001, 0.0005, 0.001, 0.0025, 0.005];
const PERCENTILES = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
const GRID = [...TAIL, ...PERCENTILES, ...TAIL.map((probability) => 1 - probability)];

/** Probabilities at which a marginal distribution is forecast, ascending: percentiles, tails, and given ones. */
export function marginalProbabilities(given: readonly number[]): number[] {
  const byDeviate = new Map([...GRID, ...given].map((probability) => [normalQuantile(probability), probability]));
  return [...byDeviate].sort(([a], [b]) => a - b).map(([, probability]) => probability);
}

/**
 * Values of equal probability that represent a distribution: its quantiles at (i + 1/2) / count, ascending (Schefzik
 * and others 2013, ECC-Q). Between known quantiles they are linear in the normal deviate.
 * @returns a function of the known quantiles of one step, in the order of `probabilities`; NaN gives NaN
 */
export function equiprobableValues(
  probabilities: readonly number[],
  count: number,
): (quantileAt: (index: number) => number) => Float64Array {
  const known = probabilities.map(normalQuantile);
  const [left, share] = [new Uint16Array(count), new Float64Array(count)];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const deviate = normalQuantile((i + 0.5) / count);
    while (at < known.length - 2 && known[at + 1] <= deviate) at++;
    left[i] = at;
    share[i] = (deviate - known[at]) / (known[at + 1] - known[at]);
  }
  return (quantileAt) => {
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const from = quantileAt(left[i]);
      values[i] = from + share[i] * (quantileAt(left[i] + 1) - from);
    }
    return values;
  };
}
