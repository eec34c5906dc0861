/** Five weeks of business seasons at steps of a minute to an hour, with and without one contextual incident. */
import { type LocalCalendar, offsetAt, UTC_CALENDAR } from '../../../src/time/local-calendar.ts';
import { RandomNumbers } from './random-numbers.ts';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** A Monday; the 28th day is the Sunday on which clocks change in Europe. */
export const SPRING_MS = Date.UTC(2026, 2, 2);
const WEEKS = 5;
/** Wednesday, Sunday and Monday of the fourth week. */
const WEDNESDAY = 23;
const SUNDAY = 27;
export const HOLIDAY = 21;

export const SHAPES = ['office', 'traffic', 'daily', 'nightly'] as const;
export type Shape = (typeof SHAPES)[number];
export const INCIDENTS = [
  'day_at_night',
  'sunday_as_monday',
  'flat_day',
  'drop40_peak_1h',
  'drop40_slow_4h',
  'late_start_2h',
  'low15_all_day',
  'weekday_as_sunday',
] as const;
export type SeasonIncident = (typeof INCIDENTS)[number];

export interface WeekSeries {
  readonly name: string;
  readonly stepMs: number;
  readonly startMs: number;
  readonly values: Float64Array;
  /** Rows of the incident; null where there is none. */
  readonly incident: { readonly kind: string; readonly start: number; readonly end: number } | null;
}

interface SeasonOptions {
  readonly shape: Shape;
  readonly stepMs: number;
  readonly seed: number;
  readonly incident?: SeasonIncident | null;
  /** The Monday of the fourth week is like a Sunday. */
  readonly isHoliday?: boolean;
  readonly startMs?: number;
  readonly calendar?: LocalCalendar;
}

const ramp = (hour: number, from: number, to: number) => Math.min(1, Math.max(0, (hour - from) / (to - from)));
const hump = (hour: number, at: number, width: number) => Math.exp(-(((hour - at) / width) ** 2));

/** What a shape shows at an hour of a weekday, or of the weekend. */
const LEVELS: Readonly<Record<Shape, (hour: number, isWeekend: boolean) => number>> = {
  office(hour, isWeekend) {
    if (isWeekend) return 0.15 + 0.06 * hump(hour, 14, 5);
    const present = ramp(hour, 8.25, 9.25) * (1 - ramp(hour, 17, 18.5));
    return (0.15 + 0.85 * present) * (1 - 0.25 * Math.exp(-(((hour - 12.6) / 0.5) ** 4)));
  },
  traffic(hour, isWeekend) {
    if (isWeekend) return 0.25 + 0.45 * hump(hour, 14.5, 4.5) + 0.15 * hump(hour, 21, 2);
    return 0.25 + 0.55 * hump(hour, 11, 3.2) + 0.6 * hump(hour, 20, 2.6) - 0.06 * hump(hour, 12.7, 0.6);
  },
  daily: (hour) => 0.6 + 0.35 * Math.sin((Math.PI * (hour - 9)) / 12) + 0.1 * Math.sin((Math.PI * (hour - 3)) / 6),
  nightly(hour, isWeekend) {
    const job = hour >= 2 && hour < 2.5 ? 0.6 : 0;
    const backup = isWeekend && hour >= 1 && hour < 5 ? 0.35 : 0;
    return 0.3 + 0.1 * Math.sin((Math.PI * (hour - 9)) / 12) + job + backup;
  },
};

/** A time of the incident in place of what it is, and the factor of its value. */
interface Disturbed {
  readonly hour: number;
  readonly isWeekend: boolean;
  readonly factor: number;
}

/** null outside of the incident. */
function disturbed(kind: SeasonIncident, day: number, hour: number, isWeekend: boolean): Disturbed | null {
  const same = { hour, isWeekend, factor: 1 };
  const on = (wanted: number, from = 0, to = 24) => day === wanted && hour >= from && hour < to;
  switch (kind) {
    case 'day_at_night':
      return on(WEDNESDAY, 3, 5) ? { ...same, hour: 10.5 } : null;
    case 'sunday_as_monday':
      return on(SUNDAY) ? { ...same, isWeekend: false } : null;
    case 'flat_day':
      return on(WEDNESDAY, 7) ? { ...same, hour: 7 } : null;
    case 'drop40_peak_1h':
      return on(WEDNESDAY, 10.5, 11.5) ? { ...same, factor: 0.6 } : null;
    case 'drop40_slow_4h':
      return on(WEDNESDAY, 10, 16) ? { ...same, factor: 1 - 0.4 * ramp(hour, 10, 12) } : null;
    case 'late_start_2h':
      return on(WEDNESDAY, 8, 11.5) ? { ...same, hour: hour < 10.25 ? 8.2 : 8.25 + (hour - 10.25) * 2.4 } : null;
    case 'low15_all_day':
      return on(WEDNESDAY) ? { ...same, factor: 0.85 } : null;
    case 'weekday_as_sunday':
      return on(WEDNESDAY) ? { ...same, isWeekend: true } : null;
  }
}

/** Days differ by 3 %, values by 2 % and by an autoregression of half an hour; the level rises by 1 % a week. */
export function seasonSeries(name: string, options: SeasonOptions): WeekSeries {
  const { shape, stepMs, seed, incident = null, isHoliday = false } = options;
  const { startMs = SPRING_MS, calendar = UTC_CALENDAR } = options;
  const random = new RandomNumbers(seed);
  const days = Array.from({ length: 7 * WEEKS + 2 }, () => 1 + 0.03 * random.normal());
  const kept = Math.exp(-stepMs / (HOUR_MS / 2));
  const values = new Float64Array((WEEKS * 7 * DAY_MS) / stepMs);
  const offsetMs = offsetAt(calendar, startMs);
  let [wander, start, end] = [0, -1, -1];
  for (let row = 0; row < values.length; row++) {
    const ms = startMs + row * stepMs;
    const localMs = row * stepMs + offsetAt(calendar, ms) - offsetMs;
    const day = Math.floor(localMs / DAY_MS);
    const hour = (localMs - day * DAY_MS) / HOUR_MS;
    const isWeekend = day % 7 >= 5 || (isHoliday && day === HOLIDAY);
    const found = incident === null ? null : disturbed(incident, day, hour, isWeekend);
    if (found !== null) [start, end] = [start < 0 ? row : start, row + 1];
    const { factor, ...at } = found ?? { hour, isWeekend, factor: 1 };
    wander = kept * wander + Math.sqrt(1 - kept * kept) * 0.022 * random.normal();
    const level = LEVELS[shape](at.hour, at.isWeekend) * factor * days[day] * (1 + (0.01 * localMs) / (7 * DAY_MS));
    values[row] = Math.round(1e5 * level * (1 + 0.02 * random.normal() + wander)) / 100;
  }
  return { name, stepMs, startMs, values, incident: incident === null ? null : { kind: incident, start, end } };
}
