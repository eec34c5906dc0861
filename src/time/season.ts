import type { AliasStep } from './frequency.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** A cycle of fewer steps than this that is no whole number of steps is multiplied until it is. */
const ROUNDED_STEPS_MIN = 4;

/**
 * Observations in the season: the shortest natural cycle longer than a step. An hour for seconds, a day for minutes and
 * hours, a week for days, a year for weeks, months and quarters; a thousand units for steps below a second.
 */
export function seasonLength(step: AliasStep): number {
  switch (step.kind) {
    case 'fixed':
      return fixedSeason(step.stepMs);
    case 'weekdays':
      return stepsIn(5, step.days);
    case 'business-hours':
      return stepsIn(8, step.hours);
    case 'half-months':
      return stepsIn(24, step.halves);
    case 'months':
      return stepsIn(12, step.months);
  }
}

function fixedSeason(stepMs: number): number {
  if (stepMs >= WEEK_MS) return stepsIn(52, stepMs / WEEK_MS);
  if (stepMs >= DAY_MS) return stepsIn(7, stepMs / DAY_MS);
  if (stepMs >= HOUR_MS) return stepsIn(24, stepMs / HOUR_MS);
  if (stepMs >= MINUTE_MS) return stepsIn(DAY_MS, stepMs);
  if (stepMs >= SECOND_MS) return stepsIn(HOUR_MS, stepMs);
  const unitMs = [1, 1e-3, 1e-6].find((unit) => stepMs >= unit) ?? stepMs;
  return stepsIn(1_000, Math.round(stepMs / unitMs));
}

/** Steps in a cycle, rounded; for a cycle of few steps, in the fewest cycles that are a whole number of steps. */
function stepsIn(cycle: number, step: number): number {
  if (cycle / step >= ROUNDED_STEPS_MIN || !Number.isInteger(step)) return Math.max(1, Math.round(cycle / step));
  return cycle / divisorOf(cycle, step);
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}
