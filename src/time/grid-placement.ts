import { type Frequency, gridPosition } from './frequency.ts';

/**
 * Position of an observation relative to the newest one of its series:
 * - `next`: a later time step, after `missing` grid steps without an observation
 * - `duplicate`: the same time step as the newest one
 * - `late`: older than the newest one
 * - `restart`: the gap is above the limit; the series starts over
 */
type GridPlacement =
  | { readonly kind: 'next'; readonly missing: number }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'late' }
  | { readonly kind: 'restart'; readonly missing: number };

interface SeriesGrid {
  readonly freq: Frequency;
  /** Event time of position 0, as `followPhase` estimates it. */
  readonly originMs: number;
  /** Number of positions so far, at least 1. */
  readonly positions: number;
  /** Event time of the newest observation; NaN where it is not known. */
  readonly newestMs: number;
  /** Observations that are further apart never share a time step. */
  readonly jitterMs: number;
  /** Most missing steps; above it the series starts over. */
  readonly gapLimit: number;
}

/** Share of its deviation from the grid by which an observation moves the phase, after the first few. */
export const PHASE_GAIN_MIN = 1 / 16;
/**
 * An observation takes the next step ahead of its time by at most this share of a step. So a series that is sampled
 * twice as often as its frequency does not run ahead of the clock.
 */
const AHEAD_MAX = 0.75;

const DUPLICATE: GridPlacement = { kind: 'duplicate' };
const LATE: GridPlacement = { kind: 'late' };
const NEXT: GridPlacement = { kind: 'next', missing: 0 };

/** Snaps an observation to the nearest step of the grid, unless it would share the step of one that is too far away. */
export function placeOnGrid(grid: SeriesGrid, timestampMs: number): GridPlacement {
  const { positions, newestMs, jitterMs } = grid;
  const missing = gridPosition(grid.freq, grid.originMs, timestampMs) - positions;
  if (missing === 0) return NEXT;
  if (missing < -1) return LATE;
  if (missing === -1) {
    if (timestampMs - newestMs > jitterMs && mayTakeNext(grid, timestampMs)) return NEXT;
    return newestMs - timestampMs > jitterMs ? LATE : DUPLICATE;
  }
  return { kind: missing > grid.gapLimit ? 'restart' : 'next', missing };
}

function mayTakeNext({ freq, originMs, positions }: SeriesGrid, timestampMs: number): boolean {
  return freq.kind === 'fixed' && originMs + (positions - AHEAD_MAX) * freq.stepMs <= timestampMs;
}

/**
 * The event time of position 0 after an observation at `position`: the phase is the mean of the first observations,
 * then follows them slowly. The first observation alone may lie half a step off the grid that the others keep.
 */
export function followPhase(
  freq: Frequency,
  originMs: number,
  { position, timestampMs }: { readonly position: number; readonly timestampMs: number },
): number {
  if (freq.kind !== 'fixed') return originMs;
  const deviation = timestampMs - (originMs + position * freq.stepMs);
  return originMs + Math.max(PHASE_GAIN_MIN, 1 / (position + 1)) * deviation;
}
