import { type Frequency, gridPosition } from './frequency.ts';

/**
 * Where an observation falls in the time of its series:
 * - `next`: the next observation, after `missing` grid steps without one
 * - `duplicate`: the same time step as the newest one
 * - `late`: older than the newest one
 * - `restart`: so long after the newest one that the series starts over
 */
export type Arrival =
  | { readonly kind: 'next'; readonly missing: number }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'late' }
  | { readonly kind: 'restart'; readonly missing: number };

const DUPLICATE: Arrival = { kind: 'duplicate' };
const LATE: Arrival = { kind: 'late' };
const NEXT: Arrival = { kind: 'next', missing: 0 };

/**
 * @param originMs event time of position 0
 * @param positions positions the series has so far, at least 1
 * @param gapLimit missing steps above which the series starts over
 */
export function placeOnGrid(
  freq: Frequency,
  originMs: number,
  positions: number,
  timestampMs: number,
  gapLimit: number,
): Arrival {
  const missing = gridPosition(freq, originMs, timestampMs) - positions;
  if (missing === 0) return NEXT;
  if (missing < -1) return LATE;
  if (missing === -1) return DUPLICATE;
  return { kind: missing > gapLimit ? 'restart' : 'next', missing };
}
