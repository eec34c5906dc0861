/** Event time of the demo: steps of five minutes since the epoch. */
export const STEP_MS = 5 * 60_000;
export const STEPS_PER_HOUR = 12;
export const STEPS_PER_DAY = 24 * STEPS_PER_HOUR;
export const STEPS_PER_WEEK = 7 * STEPS_PER_DAY;

/** The newest step whose event time is not after `timeMs`. */
export function stepAt(timeMs: number): number {
  return Math.floor(timeMs / STEP_MS);
}

/** Event time of a step, milliseconds since the epoch. */
export function timeOf(step: number): number {
  return step * STEP_MS;
}
