/**
 * Highest and lowest values beyond the context, for how rare a value is. Rows are kept in blocks of so many contexts:
 * of each length the present block and the last whole one, and the extremes of all rows.
 */
export const BLOCK_CONTEXTS = [2, 8];
export const ALL = 4 * BLOCK_CONTEXTS.length;
/** The position that they are kept from; not 0 where an earlier version kept none. */
export const SINCE = ALL + 2;
/** Floats of a series: highest and lowest of the present and of the last block of each length, then of all rows. */
export const EXTREME_FLOATS = ALL + 3;
