import { normalQuantile } from './normal.ts';

/** Least slope of a quantile, as a share of the forecast: keeps intervals of any two levels strictly nested where the model is certain. */
const SPREAD_MIN = 1e-9;
const SPREAD_FLOOR = 1e-12;

/** Bounds of a two-sided interval, as probabilities. */
export function boundsOf(level: number): { readonly lo: number; readonly hi: number } {
  return { lo: (1 - level / 100) / 2, hi: (1 + level / 100) / 2 };
}

/**
 * Quantiles at any probability from those that a model gives: linear in the standard normal quantile between them, and on with the slope of
 * the last two beyond them. Exactly the median at one half; strictly increasing with the probability.
 * @param levels probabilities of the model's quantiles, ascending, among them 0.5
 * @returns a function of a step's quantiles (`values[start, start + levels.length)`, ascending, as distances from `origin`) and the index of a
 *   wanted probability
 */
export function quantilesAt(
  levels: readonly number[],
  probabilities: readonly number[],
): (values: Float32Array, start: number, index: number, origin: number) => number {
  const known = levels.map(normalQuantile);
  const median = levels.indexOf(0.5);
  const wanted = probabilities.map((probability) => {
    const z = normalQuantile(probability);
    const above = known.findIndex((at) => at >= z);
    const right = Math.min(Math.max(above < 0 ? known.length - 1 : above, 1), known.length - 1);
    const left = right - 1;
    return { z, left, share: (z - known[left]!) / (known[right]! - known[left]!) };
  });
  return (values, start, index, origin) => {
    const { z, left, share } = wanted[index]!;
    const centre = origin + values[start + median]!;
    if (z === 0) return centre;
    const from = values[start + left]!;
    const between = from + share * (values[start + left + 1]! - from);
    return origin + between + z * Math.max(SPREAD_FLOOR, SPREAD_MIN * Math.abs(centre));
  };
}
