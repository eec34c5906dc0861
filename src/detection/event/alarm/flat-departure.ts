import type { Verdict } from '../../alarm/alarm.ts';
import { countedSteps, isFlatBack } from '../../grade/flat-return.ts';
import { rowsOfChanges } from '../../grade/grade-terms.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';

/** So many rows of one value are rest; in a row, unless the series has hardly ever moved. */
const REST_ROWS = 288;
/** Rows off that value which are no chance any more: a lone one is. */
const AWAY_ROWS = 3;
/** A departure and its return are two steps: up to so many a series has hardly ever moved. */
const STEPS_FEW = 3;
/** A series that moves now and then departs where it rested so many times as long as before, on average. */
const REST_FACTOR = 8;

/**
 * Adds an alarm if a series that rested has another value for the third row in a row, however near. The grade of its
 * first move is bounded, because its frequency is unknown. Missing rows do not count. There is none if the series moves
 * now and then, or for its return.
 * @param rate accepted false alarm episodes a row; null: no alarms
 */
export function judgeDeparture(rings: SeriesRings, position: number, verdict: Verdict, rate: number | null): Verdict {
  if (rate === null || Number.isNaN(verdict.grade)) return verdict;
  if (verdict.alarm && isFlatBack(rings, position)) return { ...verdict, alarm: false };
  let from = position;
  let steps = countedSteps(rings);
  if (steps === Number.POSITIVE_INFINITY) return verdict;
  for (let away = 0; away < AWAY_ROWS; away++) {
    const before = observedBefore(rings, from, position);
    if (rings.distanceAt(before) !== rings.distanceAt(from)) steps--;
    from = before;
  }
  const rest = rings.distanceAt(from);
  if (rings.distanceAt(observedBefore(rings, from, position)) !== rest) return verdict;
  for (let row = from + 1; row <= position; row++) if (rings.distanceAt(row) === rest) return verdict;
  const { rows, all } = restRows(rings, from, position);
  const hasHardlyMoved = steps <= STEPS_FEW;
  if ((hasHardlyMoved ? all : rows) < REST_ROWS || isFlatBack(rings, position)) return verdict;
  const seen = rowsOfChanges(rings);
  const isRare = hasHardlyMoved || steps <= 2 * rate * seen || rows * steps >= REST_FACTOR * (seen - rows);
  if (!isRare) return verdict;
  const departed = Math.abs(rings.distanceAt(position) - rest);
  return { ...verdict, alarm: true, elevated: Math.max(verdict.elevated, AWAY_ROWS), departed };
}

/** The last observed row before another one; the oldest kept one if none is. */
function observedBefore(rings: SeriesRings, row: number, position: number): number {
  const oldest = Math.max(rings.contextStart, position - rings.layout.contextCapacity + 1);
  let before = Math.max(oldest, row - 1);
  while (before > oldest && Number.isNaN(rings.distanceAt(before))) before--;
  return before;
}

/** Kept rows of the value at `from`: those in a row up to it, and all; missing ones between them do not count. */
function restRows(rings: SeriesRings, from: number, position: number): { rows: number; all: number } {
  const oldest = Math.max(rings.contextStart, position - rings.layout.contextCapacity + 1);
  const rest = rings.distanceAt(from);
  let [rows, all, isRun] = [0, 0, true];
  for (let row = from; row >= oldest; row--) {
    const distance = rings.distanceAt(row);
    if (distance === rest) {
      all++;
      if (isRun) rows++;
    } else if (!Number.isNaN(distance)) isRun = false;
  }
  return { rows, all };
}
