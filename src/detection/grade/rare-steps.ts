import { STEPS_COUNTED } from '../calibration/resolution.ts';

/** A step that is several times as large as usual shows so much where every other row is one. */
const STEP_SHOWN = 30;
/** A step that shows more may be an alarm, however rare they are. The rarest default target needs more. */
const SHOWN_MAX = 80;

/**
 * What any step shows of a series that rarely makes one. Scales are root mean squares over all rows: where one of m
 * rows is a step they are sqrt(m) times smaller than a usual one, and each of them looks like an outlier. After enough
 * steps the threshold has learned how large they are.
 * @param steps before the row
 * @param rows so far, this one included
 */
export function shownByRareStep(steps: number, rows: number): number {
  if (steps >= STEPS_COUNTED) return 0;
  const restingRows = Math.max(0, rows / (steps + 1) - 1);
  return Math.min(SHOWN_MAX, STEP_SHOWN * Math.sqrt(restingRows));
}
