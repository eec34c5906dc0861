import { type Frequency, parseFrequency } from './frequency.ts';

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

const UNITS: readonly (readonly [alias: string, ms: number])[] = [
  ['W', 7 * DAY_MS],
  ['D', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', SECOND_MS],
];

/** Days of a step of calendar grids, by alias. */
const CALENDAR: readonly (readonly [alias: string, daysMin: number, daysMax: number])[] = [
  ['MS', 28, 31],
  ['QS', 89, 92],
  ['YS', 365, 366],
];

/** Most consecutive equal steps on a calendar grid: two months in a row, three years. */
const CALENDAR_EQUAL_MAX = 3;

/** Tolerated jitter, as a share of the step. */
const JITTER_SHARE_MAX = 0.01;
/** Least number of daily steps without a weekend from which weekdays are inferred. */
const WEEKDAYS_MIN = 10;

/**
 * The frequency of series, by the median of their steps; null without any step.
 * @param series event times of each series in order of arrival, milliseconds; only steps forward count
 */
export function inferFrequency(series: Iterable<ArrayLike<number>>): Frequency | null {
  const steps: number[] = [];
  const days = new Set<number>();
  for (const times of series) {
    for (let i = 1; i < times.length; i++) {
      const step = times[i] - times[i - 1];
      if (step <= 0) continue;
      steps.push(step);
      if (step >= DAY_MS) days.add(new Date(times[i]).getUTCDay());
    }
  }
  if (steps.length === 0) return null;
  steps.sort((a, b) => a - b);
  const median = steps[Math.floor(steps.length / 2)];
  if (median === DAY_MS && steps.length >= WEEKDAYS_MIN && !days.has(0) && !days.has(6)) return parseFrequency('B');
  const differ = steps[0] !== steps.at(-1) || steps.length <= CALENDAR_EQUAL_MAX;
  const calendar = CALENDAR.find(([, min, max]) => differ && median >= min * DAY_MS && median <= max * DAY_MS);
  if (calendar !== undefined) return parseFrequency(calendar[0]);
  const same = steps.filter((step) => step === median).length;
  return parseFrequency(fixedAlias(median, same * 2 > steps.length ? 0 : JITTER_SHARE_MAX));
}

/** Alias of the largest unit that divides the step, within `tolerance` of the step. */
function fixedAlias(stepMs: number, tolerance: number): string {
  for (const [alias, unitMs] of UNITS) {
    const count = Math.round(stepMs / unitMs);
    if (count >= 1 && Math.abs(count * unitMs - stepMs) <= tolerance * stepMs)
      return count === 1 ? alias : count + alias;
  }
  return `${stepMs}ms`;
}
