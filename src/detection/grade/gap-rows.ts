import type { SeriesRings } from '../memory/series-rings.ts';
import { LEVEL_VALUES } from '../memory/shape-lags.ts';

interface GapRule {
  /** Missing rows in a row that are a gap. */
  readonly gap: number;
  /** Rows behind it that still count as behind it. */
  readonly rows: number;
}

/** A change over so many rows is not one of those from row to row, by which it would be judged. */
export const CHANGE_GAP: GapRule = { gap: LEVEL_VALUES, rows: 1 };
/** The newest values have no shape yet: the distances still compare what is missing. */
export const SHAPE_GAP: GapRule = { gap: 8, rows: 8 };

/** True if one of the changes between the values of the level before a row, or to the first, was at least `least`. */
export function hasJumpInLevel(rings: SeriesRings, position: number, least: number): boolean {
  const first = Math.max(rings.contextStart + 1, position - LEVEL_VALUES);
  for (let row = first; row < position; row++) {
    if (Math.abs(rings.distanceAt(row) - rings.distanceAt(row - 1)) >= least) return true;
  }
  return false;
}

/** True if one of the `rows` before `position` is the last row of a gap. */
export function isBehindGap(rings: SeriesRings, position: number, { gap, rows }: GapRule): boolean {
  if (position - gap - rows < rings.contextStart) return false;
  const present = rings.presentBefore(position, rows);
  if (present === rows) return false;
  return !rings.hasValue(position - present - gap, position - present - 1);
}
