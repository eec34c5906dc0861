import type { Verdict } from '../../alarm/alarm.ts';
import type { SeriesRings } from '../../memory/series-rings.ts';
import { presentMedian } from '../kind/present-median.ts';

const DAY_MS = 86_400_000;
/** A rise is seen in three parts of so many rows; the rows before them show the usual distance. */
const PART_ROWS = 8;
const RISE_ROWS = 3 * PART_ROWS;
const USUAL_ROWS = 96;
/** Beyond what nine of ten of those rows show so many times the last part is no chance. */
const BEYOND = 3;
const USUAL_QUANTILE = 0.9;
const SEASON_SHARE = 0.7;
/** A row that forecasts explain is none of a rise. */
const GRADE_MIN = 1 / 3;

/**
 * The verdict with an alarm where values leave the same time of the day before, step by step and one way: a leak. Each
 * forecast follows it for a while, so that no row is far from its own.
 * @param rate accepted false alarm episodes a row; null: no alarms
 */
export function judgeRise(rings: SeriesRings, position: number, verdict: Verdict, rate: number | null): Verdict {
  const stepMs = rings.layout.settings.profile?.stepMs;
  if (rate === null || stepMs === undefined || verdict.alarm || !(verdict.grade >= GRADE_MIN)) return verdict;
  const lag = DAY_MS / stepMs;
  const first = position - RISE_ROWS - USUAL_ROWS + 1;
  const oldest = Math.max(rings.contextStart, position - rings.layout.contextCapacity + 1);
  if (!Number.isInteger(lag) || first - lag < oldest) return verdict;
  const away = Array.from({ length: USUAL_ROWS + RISE_ROWS }, (_, i) => {
    return rings.distanceAt(first + i) - rings.distanceAt(first + i - lag);
  });
  const centre = presentMedian(away.slice(0, USUAL_ROWS));
  const usual = away.slice(0, USUAL_ROWS).flatMap((each) => (Number.isNaN(each) ? [] : [Math.abs(each - centre)]));
  if (usual.length < USUAL_ROWS / 2) return verdict;
  const limit = mostOf(usual);
  const values = Array.from({ length: USUAL_ROWS }, (_, i) => rings.distanceAt(first + i));
  const level = presentMedian(values);
  // If the day before explains little more than the level does, values wander.
  if (!(limit < SEASON_SHARE * mostOf(values.map((each) => Math.abs(each - level))))) return verdict;
  const parts = [0, 1, 2].map((part) => {
    const from = USUAL_ROWS + part * PART_ROWS;
    return presentMedian(away.slice(from, from + PART_ROWS)) - centre;
  });
  const side = Math.sign(parts[2]);
  const [one, two, three] = parts.map((part) => side * part);
  const isRising = three > BEYOND * limit && two - one > limit / 2 && three - two > limit / 2;
  if (!isRising || side * movedBy(rings, position) < Math.abs(movedBy(rings, position - lag))) return verdict;
  const begun = away.findLastIndex((each) => side * (each - centre) <= limit);
  return {
    ...verdict,
    alarm: true,
    elevated: Math.max(verdict.elevated, Math.min(RISE_ROWS, away.length - 1 - begun)),
  };
}

function mostOf(distances: readonly number[]): number {
  const present = distances.filter((each) => !Number.isNaN(each)).sort((a, b) => a - b);
  return present[Math.floor(USUAL_QUANTILE * present.length)] ?? Number.NaN;
}

/**
 * Distance that values moved within the rows of a rise. The day after a leak they did not, but a day before they did.
 */
function movedBy(rings: SeriesRings, position: number): number {
  const medianTo = (end: number) =>
    presentMedian(Array.from({ length: PART_ROWS }, (_, i) => rings.distanceAt(end - i)));
  return medianTo(position) - medianTo(position - RISE_ROWS + PART_ROWS);
}
