/** Shortest context of a forecast, in positions. HTTP and stream share it. */
export const CONTEXT_MIN = 16;

/** The smallest context length of the model that holds `available` positions. */
export function contextBucket(available: number, buckets: readonly number[]): number {
  for (const bucket of buckets) if (available <= bucket) return bucket;
  return buckets.at(-1)!;
}
