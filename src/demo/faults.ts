import { DEMO_PLAN, type FaultKind, STEP_MS, STEPS_PER_DAY, STEPS_PER_HOUR, stepAt, timeOf } from './demo-plan.ts';

/** Steps `start <= step < end` of one series, or of all. */
export interface Fault {
  readonly kind: FaultKind;
  /** null: every series. */
  readonly series: string | null;
  readonly start: number;
  readonly end: number;
  /** Words for a person. */
  readonly cause: string;
}

/** Days from one fault of a kind to the next. */
const PERIOD_DAYS = 2;
const FAULT_PERIOD = PERIOD_DAYS * STEPS_PER_DAY;

/** Time by which a wrong one is ahead. It is between two steps: no later value of the series has the same one. */
const AHEAD_MS = 23 * STEPS_PER_HOUR * STEP_MS + STEP_MS / 2;

/**
 * Faults of one period. All begin within eight hours of its second day: a demo starts with a period, has a history of
 * three days, and shows them once in the history and once more within the first minutes after it.
 */
const FAULTS: readonly Fault[] = DEMO_PLAN.faults.map(({ step, steps, ...fault }) => {
  return { ...fault, start: STEPS_PER_DAY + step, end: STEPS_PER_DAY + step + steps };
});

/** The fault of a series at a step; null if its record is sent as it should be. */
export function faultOf(series: string, step: number): Fault | null {
  const since = ((step % FAULT_PERIOD) + FAULT_PERIOD) % FAULT_PERIOD;
  const fault = FAULTS.find((one) => (one.series ?? series) === series && one.start <= since && since < one.end);
  return fault === undefined ? null : { ...fault, start: step - since + fault.start, end: step - since + fault.end };
}

/** The event time in a series' record of a step; null if none is sent. */
export function sentTime(series: string, step: number): number | null {
  const kind = faultOf(series, step)?.kind;
  if (kind === 'outage' || kind === 'silence') return null;
  return kind === 'wrong-time' ? timeOf(step) + AHEAD_MS : timeOf(step);
}

/** The step of a record with this time: the inverse of `sentTime`. */
export function stepOfSent(timestampMs: number): number {
  const isWrong = timestampMs % STEP_MS === AHEAD_MS % STEP_MS;
  return stepAt(isWrong ? timestampMs - AHEAD_MS : timestampMs);
}
