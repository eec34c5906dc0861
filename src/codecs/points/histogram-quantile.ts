export interface ExponentialBuckets {
  readonly scale: number;
  readonly zeroCount: number;
  readonly positive: BucketsFrom;
  readonly negative: BucketsFrom;
}

export interface BucketsFrom {
  readonly offset: number;
  readonly counts: readonly number[];
  /** Their indexes in rising order, if some between them are omitted. */
  readonly at?: readonly number[];
}

/**
 * Linear within the bucket that holds the rank, from 0 in the first one, as `histogram_quantile()` of Prometheus. The
 * last bucket has no upper bound: its lower one. NaN if nothing was counted.
 */
export function explicitQuantile(
  quantile: number,
  { bounds, counts }: { readonly bounds: readonly number[]; readonly counts: readonly number[] },
): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rank = quantile * total;
  let below = 0;
  for (let i = 0; i < bounds.length; i++) {
    if (below + counts[i] >= rank && total > 0) {
      const lower = i === 0 ? Math.min(0, bounds[0]) : bounds[i - 1];
      return counts[i] === 0 ? lower : lower + ((bounds[i] - lower) * (rank - below)) / counts[i];
    }
    below += counts[i];
  }
  return total > 0 ? bounds[bounds.length - 1] : Number.NaN;
}

/**
 * Geometric within the bucket that holds the rank, as Prometheus has it for native histograms: bucket i of an offset
 * reaches from base^(offset + i) to base^(offset + i + 1), base being 2^(2^-scale). NaN if nothing was counted.
 */
export function exponentialQuantile(
  quantile: number,
  { scale, zeroCount, positive, negative }: ExponentialBuckets,
): number {
  const sumOf = ({ counts }: BucketsFrom) => counts.reduce((sum, count) => sum + count, 0);
  const below = sumOf(negative);
  const total = below + zeroCount + sumOf(positive);
  if (!(total > 0)) return Number.NaN;
  const rank = quantile * total;
  // The negative buckets count from zero on, the smallest values last.
  if (rank < below) return -magnitudeAt(below - rank, negative, scale);
  return rank <= below + zeroCount ? 0 : magnitudeAt(rank - below - zeroCount, positive, scale);
}

function magnitudeAt(rank: number, { offset, counts, at }: BucketsFrom, scale: number): number {
  let below = 0;
  let index = 0;
  while (index < counts.length - 1 && below + counts[index] < rank) below += counts[index++];
  const within = counts[index] === 0 ? 0 : (rank - below) / counts[index];
  return 2 ** (((at?.[index] ?? offset + index) + within) * 2 ** -scale);
}
