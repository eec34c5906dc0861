import { ALL, BLOCK_CONTEXTS, SINCE } from '../../memory/extreme-blocks.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';

/** The newest values of a series: distances from `origin`, in a ring. */
export interface RingValues {
  readonly rings: SeriesRings;
  readonly origin: number;
}

/** Records the window [start, end) as it closes, while its values are in the ring. */
export function recordExtremes({ rings, origin }: RingValues, start: number, end: number): void {
  const floats = rings.extremes();
  if (Number.isNaN(floats[SINCE])) floats[SINCE] = start;
  let highest = Number.NaN;
  let lowest = Number.NaN;
  for (let position = start; position < end; position++) {
    const distance = rings.distanceAt(position);
    if (Number.isNaN(distance)) continue;
    if (!(distance <= highest)) highest = distance;
    if (!(distance >= lowest)) lowest = distance;
  }
  const extremes = [highest + origin, lowest + origin];
  BLOCK_CONTEXTS.forEach((contexts, i) => {
    widen(floats, 4 * i, extremes);
    if ((end - rings.grid.phase) % blockRows(contexts, rings, end - start) !== 0) return;
    floats.copyWithin(4 * i + 2, 4 * i, 4 * i + 2);
    floats.fill(Number.NaN, 4 * i, 4 * i + 2);
  });
  widen(floats, ALL, extremes);
}

/** A block is a number of whole windows. */
function blockRows(contexts: number, { layout }: SeriesRings, windowSize: number): number {
  return Math.ceil((contexts * layout.contextCapacity) / windowSize) * windowSize;
}

function widen(floats: Float32Array, at: number, [highest, lowest]: readonly number[]): void {
  if (Number.isNaN(highest)) return;
  if (!(highest <= floats[at])) floats[at] = highest;
  if (!(lowest >= floats[at + 1])) floats[at + 1] = lowest;
}

/** The lowest and the highest value so far, the row at `position` included: of closed windows and of the ring. */
export function extremesOf(
  { rings, origin }: RingValues,
  position: number,
): readonly [lowest: number, highest: number] {
  const floats = rings.extremes();
  let [highest, lowest] = [floats[ALL], floats[ALL + 1]];
  for (let row = Math.max(0, rings.contextStart, position - rings.layout.contextCapacity + 1); row <= position; row++) {
    const value = rings.distanceAt(row) + origin;
    if (Number.isNaN(value)) continue;
    if (!(highest >= value)) highest = value;
    if (!(lowest <= value)) lowest = value;
  }
  return [lowest, highest];
}

/** The rarity of a value: in so many rows before it none was as high (or as low). */
export interface Rarity {
  readonly side: 'highest' | 'lowest';
  readonly rows: number;
}

interface RareValue {
  /** Value of the row at `position`, the newest in the ring. */
  readonly value: number;
  readonly position: number;
  readonly side: Rarity['side'];
  /** First position of the event, whose own rows do not count. */
  readonly start: number;
  readonly windowSize: number;
}

/**
 * Exact for rows in the ring, rounded down to blocks beyond. null if a row of the last two windows was as high (or
 * as low).
 */
export function rarityOf({ rings, origin }: RingValues, rare: RareValue): Rarity | null {
  const { value, position, side, start, windowSize } = rare;
  const exceeds = (other: number) => (side === 'highest' ? value > other : value < other);
  const within = (rows: number) => (rows < 2 * windowSize ? null : { side, rows });
  const oldest = Math.max(0, rings.contextStart, position - rings.layout.contextCapacity + 1);
  for (let before = start - 1; before >= oldest; before--) {
    const distance = rings.distanceAt(before);
    if (!Number.isNaN(distance) && !exceeds(distance + origin)) return within(start - before);
  }
  if (oldest === 0) return within(start);
  const floats = rings.extremes();
  const at = side === 'highest' ? 0 : 1;
  // The blocks may hold this row by now, so as high is high enough.
  const reaches = (other: number) => other === Math.fround(value) || exceeds(other);
  if (reaches(floats[ALL + at])) return within(start - floats[SINCE]);
  for (let i = BLOCK_CONTEXTS.length - 1; i >= 0; i--) {
    const rows = blockRows(BLOCK_CONTEXTS[i], rings, windowSize);
    const [present, last] = [floats[4 * i + at], floats[4 * i + 2 + at]];
    const isEmpty = Number.isNaN(present);
    if (!(isEmpty || reaches(present)) || !reaches(last)) continue;
    // The window of this row may have closed. Then it may have ended its block, which is the last one by now.
    const ended = isEmpty ? position + 1 : position;
    const from = ended - ((ended - rings.grid.phase) % rows) - rows;
    return within(start - Math.max(floats[SINCE], from));
  }
  return within(start - oldest);
}
