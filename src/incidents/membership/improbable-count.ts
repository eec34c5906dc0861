/**
 * The least number of parts that must begin at once, and the least improbability of that, as -log2 of the probability.
 */
export const PARTS_MIN = 4;
const BITS_AT_ONCE = 16;

/** Returns how many onsets in a window are too many for chance if so many are expected from the past of the fleet. */
export function improbableCount(expected: number): number {
  let count = Math.max(PARTS_MIN, Math.ceil(expected));
  while (bitsOfAtLeast(count, expected) < BITS_AT_ONCE) count++;
  return count;
}

/**
 * The same if only the target rate of false alarms is known, which the actual rate may exceed: it is taken as
 * exponentially distributed about its target, so that counts are geometric.
 */
export function improbableCountOfTarget(expected: number): number {
  return Math.max(PARTS_MIN, Math.ceil(BITS_AT_ONCE / Math.log2(1 + 1 / expected)));
}

/** -log2 of the probability of at least `count` if so many are expected, by Chernoff's bound of a Poisson tail. */
function bitsOfAtLeast(count: number, expected: number): number {
  if (count <= expected) return 0;
  return (count * Math.log(count / expected) - count + expected) / Math.LN2;
}
