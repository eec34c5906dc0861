import { type Frequency, meanStepMs } from '../../time/frequency.ts';
import { ALARM_RATE_MAX } from './alarm.ts';

/** Accepted false alarms (episodes) of a series in a stretch of event time; `off`: no grade, no severity, no alarm. */
export type FalseAlarms = { readonly count: number; readonly perMs: number } | 'off';

const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  hour: DAY_MS / 24,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30.4375 * DAY_MS,
  year: 365.25 * DAY_MS,
};
const DEFAULT = { count: 1, perMs: 7 * DAY_MS };
/**
 * Shares of rows that the default stays between, regardless of the frequency. At a lower rate, a series with a value
 * every second would miss obvious incidents.
 */
const DEFAULT_RATE_MAX = 1 / 1_000;
const DEFAULT_RATE_MIN = 1 / 50_000;

export const FALSE_ALARMS_EXPECTED = 'off, or a rate such as 1/week, 0.5/day or 2/month';

/** Reads `off` or a rate such as `1/week`; undefined for anything else. */
export function parseFalseAlarms(text: string): FalseAlarms | undefined {
  if (text === 'off') return 'off';
  const match = /^(\d{1,6}(?:\.\d{1,6})?)\/(hour|day|week|month|year)$/.exec(text);
  const count = Number(match?.[1]);
  return match !== null && count > 0 ? { count, perMs: UNIT_MS[match[2]] } : undefined;
}

/** The setting of accepted false alarms; undefined if there is none. */
interface AlarmWishes {
  readonly falseAlarms?: FalseAlarms | undefined;
  /** In percent; used where no rate is given: of 100 rows, 100 - level may be false alarms. */
  readonly level?: number | undefined;
}

/**
 * Accepted false alarms a row, at most 1 in 100; null for `off`. By default one a week, at most 1 in 1,000 rows
 * and at least 1 in 50,000.
 */
export function alarmRateOf({ falseAlarms, level }: AlarmWishes, freq: Frequency): number | null {
  if (falseAlarms === 'off') return null;
  if (falseAlarms === undefined && level !== undefined)
    return Math.min(ALARM_RATE_MAX, Math.max(1e-9, 1 - level / 100));
  const { count, perMs } = falseAlarms ?? DEFAULT;
  const rate = (count * meanStepMs(freq)) / perMs;
  if (falseAlarms === undefined) return Math.max(DEFAULT_RATE_MIN, Math.min(rate, DEFAULT_RATE_MAX));
  return Math.min(rate, ALARM_RATE_MAX);
}
