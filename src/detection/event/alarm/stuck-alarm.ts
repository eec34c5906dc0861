import type { Verdict } from '../../alarm/alarm.ts';
import { ALL } from '../../memory/extreme-blocks.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';
import { STUCK_FACTOR, STUCK_ROWS } from '../kind/event-kind.ts';

/** The longest run that is considered. All other kept rows show how often values repeat. */
const RUN_ROWS_MAX = 64;
/** Pairs of values before a run that show how often values repeat. */
const PAIRS_MIN = 96;
/**
 * A run must be as improbable as this share of the target rate, if values repeated independently of each other: in
 * slow series of few digits they do not.
 */
const RATE_SHARE = 1e-8;

/**
 * The verdict with an alarm where a value has come so often in a row that its series is stuck: once, at the row where
 * that becomes improbable. A value at the lowest or highest of the series is none: many series rest there.
 * @param rate accepted false alarm episodes a row; null: no alarms
 */
export function judgeStuck(rings: SeriesRings, position: number, verdict: Verdict, rate: number | null): Verdict {
  if (rate === null || verdict.alarm || Number.isNaN(verdict.grade)) return verdict;
  const value = rings.distanceAt(position);
  if (rings.distanceAt(position - 1) !== value) return verdict;
  return isStuckSince(rings, position, rate) ? { ...verdict, alarm: true } : verdict;
}

/** True if the run of one value that ends at `position` has just become improbable. O(rows) from STUCK_ROWS on. */
function isStuckSince(rings: SeriesRings, position: number, rate: number): boolean {
  const { contextCapacity } = rings.layout;
  const value = rings.distanceAt(position);
  const oldest = Math.max(rings.contextStart, position - contextCapacity + 1);
  let from = position;
  while (from > oldest && position - from < RUN_ROWS_MAX && rings.distanceAt(from - 1) === value) from--;
  const run = position - from + 1;
  if (run < STUCK_ROWS || run > RUN_ROWS_MAX || isExtreme(rings, value)) return false;
  let [pairs, repeats, longest, length] = [0, 0, 1, 1];
  let [lowest, highest] = [value, value];
  for (let row = Math.max(oldest, from - (contextCapacity - RUN_ROWS_MAX)); row < from; row++) {
    const distance = rings.distanceAt(row);
    if (distance < lowest) lowest = distance;
    if (distance > highest) highest = distance;
    const next = rings.distanceAt(row + 1);
    if (row + 1 === from || Number.isNaN(distance) || Number.isNaN(next)) {
      length = 1;
      continue;
    }
    pairs++;
    length = distance === next ? length + 1 : 1;
    if (distance !== next) continue;
    repeats++;
    if (length <= longest) continue;
    longest = length;
    if (STUCK_FACTOR * longest >= run) return false;
  }
  if (pairs < PAIRS_MIN || run !== rowsToBeStuck({ pairs, repeats, longest }, rate)) return false;
  const [shown, low, high] = [value, lowest, highest].map((distance) => Math.fround(distance + rings.origin));
  return low < shown && shown < high;
}

/** True if a value is the lowest or highest of all before the open window, or beyond them. */
function isExtreme(rings: SeriesRings, distance: number): boolean {
  const shown = Math.fround(distance + rings.origin);
  const extremes = rings.extremes();
  return shown <= extremes[ALL + 1] || shown >= extremes[ALL];
}

/** From how many rows on a run of one value is improbable, and far longer than any before. */
function rowsToBeStuck(
  { pairs, repeats, longest }: { readonly pairs: number; readonly repeats: number; readonly longest: number },
  rate: number,
): number {
  const probability = (repeats + 1) / (pairs + 2);
  const improbable = 1 + Math.ceil(Math.log(RATE_SHARE * rate) / Math.log(probability));
  return Math.max(STUCK_ROWS, STUCK_FACTOR * longest + 1, improbable);
}
