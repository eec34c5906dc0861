import type { SeriesRings } from '../memory/series-rings.ts';

/** Rows that a value stayed the same before the series left it: then it was flat there. */
const FLAT_ROWS = 24;

/**
 * Whether the value at `position` repeats the one before, where a flat series was before it went away. Forecasts that
 * still follow where it went say nothing of such a row, and shapes compare it with the return. O(rows).
 */
export function isBackWhereFlat(rings: SeriesRings, position: number): boolean {
  const oldest = Math.max(rings.contextStart, position - rings.layout.contextCapacity + 1);
  const level = rings.distanceAt(position);
  /** Where the run of values at the level, or of others, begins that ends before `end`. */
  const beginOf = (end: number, isLevel: boolean): number => {
    let row = end;
    while (row > oldest && (rings.distanceAt(row - 1) === level) === isLevel) row--;
    return row;
  };
  const back = beginOf(position, true);
  const left = beginOf(back, false);
  return back < position && left < back && left - beginOf(left, true) >= FLAT_ROWS;
}
