import { isFlatSoFar, STEPS_COUNTED, stepsSoFar } from '../calibration/resolution.ts';
import { SCALARS } from '../memory/series-memory.ts';
import type { SeriesRings } from '../memory/series-rings.ts';

/** Rows that a value stayed the same before the series left it: then it was flat there. */
const FLAT_ROWS = 24;

/** Values of a series by position, as distances from its origin. */
interface FlatPast {
  readonly distanceAt: (position: number) => number;
  /** The first position that is considered. */
  readonly oldest: number;
}

/**
 * True if the value at `position` is where a flat series was before it went away, and not where it went before: the
 * second outage of a service is no return. Missing rows end no run. O(rows).
 */
export function isBackWhereFlat({ distanceAt, oldest }: FlatPast, position: number): boolean {
  const level = distanceAt(position);
  /** Begin of the run of values at the level, or of others, that ends before `end`. */
  const beginOf = (end: number, isLevel: boolean): number => {
    let row = end;
    for (; row > oldest; row--) {
      const distance = distanceAt(row - 1);
      if ((distance === level || (isLevel && Number.isNaN(distance))) !== isLevel) break;
    }
    return row;
  };
  const back = beginOf(position, true);
  const left = beginOf(back, false);
  const from = beginOf(left, true);
  const flatRows = observedRows(distanceAt, from, left);
  if (left === back || flatRows < FLAT_ROWS) return false;
  const wasAwayThere = from > oldest && distanceAt(from - 1) === distanceAt(back - 1);
  return !(wasAwayThere && flatRows < observedRows(distanceAt, left, back));
}

function observedRows(distanceAt: FlatPast['distanceAt'], start: number, end: number): number {
  let rows = 0;
  for (let row = start; row < end; row++) if (!Number.isNaN(distanceAt(row))) rows++;
  return rows;
}

/** True if a series that has hardly moved is back at its newest row. */
export function isFlatBack(rings: SeriesRings, position: number): boolean {
  if (!isFlatSoFar(rings.doubles, rings.scalarIndex(SCALARS.resolution))) return false;
  const oldest = Math.max(rings.contextStart, position - rings.layout.contextCapacity + 1);
  return isBackWhereFlat({ distanceAt: (row) => rings.distanceAt(row), oldest }, position);
}

/**
 * Whether it is back for the second row or more; call it before the resolution learns of that. Forecasts that still
 * follow where it went do not describe such a row, and shapes compare it with the return.
 */
export function isFlatReturn(rings: SeriesRings, position: number): boolean {
  return rings.distanceAt(position) === rings.distanceAt(position - 1) && isFlatBack(rings, position);
}

/** Steps of a series so far; infinite once so many were seen that they are not counted any more. */
export function countedSteps(rings: SeriesRings): number {
  const steps = stepsSoFar(rings.doubles, rings.scalarIndex(SCALARS.resolution));
  return steps < STEPS_COUNTED ? steps : Number.POSITIVE_INFINITY;
}
