import { isWithin, type LocalTimes } from '../../../time/local-times.ts';

/** Rules of a detector by which alarms become events. Times are event times, so that a replay gives the same. */
export interface EventRules {
  /** Alarms on one side of the forecast alone. */
  readonly direction: 'up' | 'down' | 'both';
  /** Smallest distance from the forecast: in units of the series, and as a share of the forecast. */
  readonly minDeviation: number;
  readonly minDeviationShare: number;
  /** A value outside of it is an alarm regardless of its grade. */
  readonly validRange: ValueRange | null;
  /** Values inside are no alarm regardless of their grade. */
  readonly normalRange: ValueRange | null;
  /** An event is opened once its alarms last so long. */
  readonly minDurationMs: number;
  /** No event is opened for so long after one. */
  readonly coolDownMs: number;
  /** A drift is one event, however often the forecasts catch up with it. */
  readonly onceInDrift: boolean;
  /** No alarm counts in these times: maintenance, and calendars of what is expected. */
  readonly quiet: readonly LocalTimes[];
  /** A value at or below it is an expected stop, and so is the row that starts again; null if there are none. */
  readonly stoppedAt: number | null;
}

export interface ValueRange {
  readonly min: number;
  readonly max: number;
}

export const NO_RULES: EventRules = {
  direction: 'both',
  minDeviation: 0,
  minDeviationShare: 0,
  validRange: null,
  normalRange: null,
  minDurationMs: 0,
  coolDownMs: 0,
  onceInDrift: true,
  quiet: [],
  stoppedAt: null,
};

/** Input of the rules. */
interface RuledRow {
  readonly timestampMs: number;
  readonly value: number;
  /** NaN if there is no forecast. */
  readonly expected: number;
  /** The observed value before; NaN if there is none. */
  readonly previous: number;
}

/** True if a value is outside of the valid range: then it is an alarm regardless of its grade. */
export function isInvalid(value: number, { validRange }: Pick<EventRules, 'validRange'>): boolean {
  return validRange !== null && !Number.isNaN(value) && !contains(validRange, value);
}

/** True if an alarm is on the side that is watched. */
export function isOnSide({ value, expected }: Pick<RuledRow, 'value' | 'expected'>, rules: EventRules): boolean {
  const deviation = value - expected;
  if (isInvalid(value, rules)) return true;
  return rules.direction === 'up' ? !(deviation < 0) : rules.direction === 'down' ? !(deviation > 0) : true;
}

/** True if an alarm counts for events, on whichever side it lies. */
export function isWanted({ timestampMs, value, expected, previous }: RuledRow, rules: EventRules): boolean {
  const { minDeviation, minDeviationShare, normalRange, stoppedAt, quiet } = rules;
  if (stoppedAt !== null && (value <= stoppedAt || previous <= stoppedAt)) return false;
  if (!isInvalid(value, rules)) {
    const deviation = value - expected;
    if (Math.abs(deviation) < Math.max(minDeviation, minDeviationShare * Math.abs(expected))) return false;
    if (normalRange !== null && contains(normalRange, value)) return false;
  }
  return !isQuiet(timestampMs, { quiet });
}

/** True if nothing counts at this time. */
export function isQuiet(timestampMs: number, { quiet }: Pick<EventRules, 'quiet'>): boolean {
  return quiet.some((times) => isWithin(times, timestampMs));
}

function contains({ min, max }: ValueRange, value: number): boolean {
  return value >= min && value <= max;
}
