import { SCALARS } from '../memory/series-memory.ts';
import type { SeriesRings } from '../memory/series-rings.ts';

/**
 * Among the first rows of a series so many large residuals in a row count once: the forecast does not follow a new
 * level yet, and each of them would raise the scale that clips the next. So long is the echo of a glitch, too.
 */
const RUN_ROWS = 24;
/**
 * So many outliers behind LONE_ROWS without one are a glitch: they do not show that others will come. A third and a
 * fourth one belong to it if they are far out.
 */
export const GLITCH_ROWS = 4;
const NEAR_ROWS = 2;
const LONE_ROWS = 240;
/** Places of a row among the outliers of residuals; see passOutliers. */
export const RUN_MAX = RUN_ROWS + 1;
const ECHO_MAX = RUN_MAX + RUN_ROWS;
export const LONE_MAX = RUN_MAX + LONE_ROWS;

/**
 * Records a row with a residual. Returns its place among the outliers of the residuals:
 *
 *   0               no outlier in LONE_ROWS, or in RUN_ROWS fewer behind more than GLITCH_ROWS
 *   1 .. RUN_MAX    outliers in a row, behind so many rows without one
 *   .. ECHO_MAX     rows behind a glitch; then, or behind other outliers, rows without one, up to LONE_MAX
 *   beyond that     outliers in a row that have others before them
 */
export function passOutliers(rings: SeriesRings, isOutlier: boolean, isFar: boolean): number {
  const before = rings.scalar(SCALARS.residualRun);
  const place = isOutlier ? placeOfOutlier(before, isFar) : placeBehind(before);
  rings.setScalar(SCALARS.residualRun, place);
  return place;
}

function placeOfOutlier(before: number, isFar: boolean): number {
  if (before >= NEAR_ROWS && before < GLITCH_ROWS && !isFar) return GLITCH_ROWS + 1;
  if (before <= RUN_MAX) return Math.min(RUN_MAX, before + 1);
  return LONE_MAX + Math.min(RUN_MAX, 1 + Math.max(0, before - LONE_MAX));
}

function placeBehind(before: number): number {
  if (before === 0 || before === LONE_MAX) return 0;
  const isBehindRun = before <= RUN_MAX || before > LONE_MAX;
  if (isBehindRun) return 1 + (before <= GLITCH_ROWS ? RUN_MAX : ECHO_MAX);
  return before + 1;
}

/** True for the rows behind a glitch whose changes, analogues and shapes still contain it. */
export function isEcho(rings: SeriesRings): boolean {
  const place = rings.scalar(SCALARS.residualRun);
  return place > RUN_MAX && place <= ECHO_MAX;
}
