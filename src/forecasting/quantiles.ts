import { normalQuantile } from './normal-distribution.ts';

/**
 * Least slope of a quantile, as a share of the forecast. It keeps intervals strictly nested where the model's quantiles
 * coincide.
 */
const SPREAD_MIN = 1e-9;
/** The same as a share of the outermost quantiles: they may be far from a forecast near 0. */
const OUTER_SPREAD_MIN = 1e-11;
const SPREAD_FLOOR = 1e-12;

/** Probabilities of the bounds of a central prediction interval. */
export function intervalBounds(level: number): { readonly lo: number; readonly hi: number } {
  return { lo: (1 - level / 100) / 2, hi: (1 + level / 100) / 2 };
}

/**
 * Interpolates the model's quantiles over standard normal deviates: linear between them, and beyond them with the slope
 * of the last two. Exactly the median at 0; strictly increasing in the deviate.
 * @param levels probabilities of the model's quantiles, ascending, among them 0.5
 * @returns a function of a step's quantiles (`values[start, start + levels.length)`, ascending, as distances from
 *   `origin`) and the index of a deviate
 */
export function quantileFunction(
  levels: readonly number[],
  deviates: readonly number[],
): (values: Float32Array, start: number, index: number, origin: number) => number {
  const known = levels.map(normalQuantile);
  const median = levels.indexOf(0.5);
  const wanted = deviates.map((z) => {
    const left = leftNeighbour(known, (at) => at >= z);
    return { z, left, share: (z - known[left]) / (known[left + 1] - known[left]) };
  });
  return (values, start, index, origin) => {
    const { z, left, share } = wanted[index];
    const centre = origin + values[start + median];
    if (z === 0) return centre;
    const from = values[start + left];
    const interpolated = from + share * (values[start + left + 1] - from);
    const outer = Math.max(Math.abs(values[start]), Math.abs(values[start + known.length - 1]));
    const spread = Math.max(SPREAD_FLOOR, SPREAD_MIN * Math.abs(centre), OUTER_SPREAD_MIN * outer);
    return origin + interpolated + z * spread;
  };
}

/**
 * The inverse: the deviate at which a value lies among the model's quantiles. 0 at the median, NaN for NaN, infinite
 * for a value outside of outermost quantiles that coincide.
 * @returns a function of a step's quantiles (as above) and a value, as a distance from the same origin
 */
export function deviateFunction(
  levels: readonly number[],
): (values: Float32Array, start: number, value: number) => number {
  const known = levels.map(normalQuantile);
  const median = levels.indexOf(0.5);
  return (values, start, value) => {
    if (Number.isNaN(value)) return value;
    const centre = values[start + median];
    if (value === centre) return 0;
    // The nearest to the median where several quantiles are equal.
    const left =
      value > centre
        ? leftNeighbour(levels, (_, i) => values[start + i] >= value)
        : Math.max(
            0,
            levels.findLastIndex((_, i) => values[start + i] <= value),
          );
    const from = values[start + left];
    const rise = values[start + left + 1] - from;
    if (rise === 0) return value < centre ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return known[left] + ((value - from) / rise) * (known[left + 1] - known[left]);
  };
}

/** Index of the left one of the two neighbours to interpolate between; beyond the ends, of the outermost two. */
function leftNeighbour(known: readonly number[], reached: (known: number, index: number) => boolean): number {
  const above = known.findIndex(reached);
  return Math.min(Math.max(above < 0 ? known.length - 1 : above, 1), known.length - 1) - 1;
}
