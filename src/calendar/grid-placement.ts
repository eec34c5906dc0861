import { type Frequency, gridPosition } from './frequency.ts';

/**
 * Position of an observation relative to the newest one of its series:
 * - `next`: a later time step, after `missing` grid steps without an observation
 * - `duplicate`: the same time step as the newest one
 * - `late`: older than the newest one
 * - `restart`: the gap is above the limit; the series starts over
 */
export type GridPlacement =
  | { readonly kind: 'next'; readonly missing: number }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'late' }
  | { readonly kind: 'restart'; readonly missing: number };

export interface SeriesGrid {
  readonly freq: Frequency;
  /** Event time of position 0. */
  readonly originMs: number;
  /** Number of positions so far, at least 1. */
  readonly positions: number;
  /** Most missing steps; above it the series starts over. */
  readonly gapLimit: number;
}

const DUPLICATE: GridPlacement = { kind: 'duplicate' };
const LATE: GridPlacement = { kind: 'late' };
const NEXT: GridPlacement = { kind: 'next', missing: 0 };

export function placeOnGrid({ freq, originMs, positions, gapLimit }: SeriesGrid, timestampMs: number): GridPlacement {
  const missing = gridPosition(freq, originMs, timestampMs) - positions;
  if (missing === 0) return NEXT;
  if (missing < -1) return LATE;
  if (missing === -1) return DUPLICATE;
  return { kind: missing > gapLimit ? 'restart' : 'next', missing };
}
