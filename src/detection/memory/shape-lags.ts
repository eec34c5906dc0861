/** Lags of the shape search: from LAG_MIN up to what the ring of values holds, at most LAG_MAX. */
export const LAG_MIN = 16;
export const LAG_MAX = 464;
/** Values before a position that make its local level. */
export const LEVEL_VALUES = 4;
/** Rows that seed the distances. */
export const SEED_ROWS = 16;
/** Distances are seeded again at every multiple of this position, so that a restore can compute them from the ring. */
export const SEED_PERIOD = 24;

/** Number of lags at which a ring of `capacity` values can be searched. */
export function shapeLags(capacity: number): number {
  const longest = Math.min(LAG_MAX, capacity - SEED_PERIOD - SEED_ROWS - LEVEL_VALUES);
  return Math.max(0, longest - LAG_MIN + 1);
}
