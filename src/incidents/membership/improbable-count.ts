/** The least improbability of what is no chance, as -log2 of the probability. */
const BITS_AT_ONCE = 16;

/** Returns how many onsets in a window are too many for chance if so many are expected from the past of the fleet. */
export function improbableCount(expected: number, bits = BITS_AT_ONCE): number {
  let count = Math.ceil(expected);
  while (bitsOfAtLeast(count, expected) < bits) count++;
  return count;
}

/**
 * The same if only the target rate of false alarms is known, which the actual rate may exceed: it is taken as
 * exponentially distributed about its target, so that counts are geometric.
 */
export function improbableCountOfTarget(expected: number, bits = BITS_AT_ONCE): number {
  return Math.ceil(bits / Math.log2(1 + 1 / expected));
}

/** -log2 of the probability of at least `count` if so many are expected, by Chernoff's bound of a Poisson tail. */
function bitsOfAtLeast(count: number, expected: number): number {
  if (count <= expected) return 0;
  return (count * Math.log(count / expected) - count + expected) / Math.LN2;
}
