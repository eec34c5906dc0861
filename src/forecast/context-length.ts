/** Positions a forecast needs before its cutoff; the same over HTTP and in the stream. */
export const CONTEXT_MIN = 16;

/** The smallest context length the model is run at that holds `available` positions. */
export function contextBucket(available: number, buckets: readonly number[]): number {
  for (const bucket of buckets) if (available <= bucket) return bucket;
  return buckets.at(-1)!;
}
