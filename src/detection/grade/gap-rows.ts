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

/** True if one of the `rows` before `position` is the last row of a gap. */
export function isBehindGap(rings: SeriesRings, position: number, { gap, rows }: GapRule): boolean {
  if (position - gap - rows < rings.contextStart) return false;
  let last = 1;
  while (last <= rows && !Number.isNaN(rings.distanceAt(position - last))) last++;
  if (last > rows) return false;
  return !rings.hasValue(position - last - gap + 1, position - last);
}
