import type { Verdict } from '../../alarm/alarm.ts';
import { countedSteps, isFlatBack } from '../../grade/flat-return.ts';
import { rowsOfChanges } from '../../grade/grade-terms.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';

/** So many rows of one value are rest. */
const REST_ROWS = 288;
/** Rows off that value which are no chance any more: a lone one is. */
const AWAY_ROWS = 3;
/** A departure and its return are two steps: up to so many a series has hardly ever moved. */
const STEPS_FEW = 3;
/** A series that moves now and then departs where it rested so many times as long as before, on average. */
const REST_FACTOR = 8;

/**
 * The verdict with an alarm where a series that rested has left its value for the third row in a row, by however
 * little: the grade of its first move is bounded, because nobody knows how rare it is. None where the series moves now
 * and then, and none of its return.
 * @param rate accepted false alarm episodes a row; null: no alarms
 */
export function judgeDeparture(rings: SeriesRings, position: number, verdict: Verdict, rate: number | null): Verdict {
  if (rate === null || Number.isNaN(verdict.grade)) return verdict;
  if (verdict.alarm) return isFlatBack(rings, position) ? { ...verdict, alarm: false } : verdict;
  const from = position - AWAY_ROWS;
  const rest = rings.distanceAt(from);
  if (rings.distanceAt(from - 1) !== rest) return verdict;
  let steps = countedSteps(rings);
  for (let row = from + 1; row <= position; row++) {
    const distance = rings.distanceAt(row);
    if (distance === rest || Number.isNaN(distance)) return verdict;
    if (distance !== rings.distanceAt(row - 1)) steps--;
  }
  const rows = restRows(rings, from);
  if (rows < REST_ROWS || steps === Number.POSITIVE_INFINITY || isFlatBack(rings, position)) return verdict;
  const seen = rowsOfChanges(rings);
  const isRare = steps <= STEPS_FEW || steps <= 2 * rate * seen || rows * steps >= REST_FACTOR * (seen - rows);
  return isRare ? { ...verdict, alarm: true, elevated: Math.max(verdict.elevated, AWAY_ROWS) } : verdict;
}

/** Rows of one value up to a position, as far as they are kept; missing ones between them do not count. */
function restRows(rings: SeriesRings, position: number): number {
  const oldest = Math.max(rings.contextStart, position + AWAY_ROWS - rings.layout.contextCapacity + 1);
  const rest = rings.distanceAt(position);
  let rows = 0;
  for (let row = position; row >= oldest; row--) {
    const distance = rings.distanceAt(row);
    if (distance === rest) rows++;
    else if (!Number.isNaN(distance)) break;
  }
  return rows;
}
