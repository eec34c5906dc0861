import type { SpecialDay } from './local-calendar.ts';
import { WEEKDAYS_OF_ISO, type Weekday } from './local-times.ts';

/** Dates on which things are as on another weekday. */
export interface SpecialDates {
  /** As `2026-12-24`, or `12-24` for every year. */
  readonly dates: readonly string[];
  readonly like: Weekday;
}

const DAY_MS = 86_400_000;
/** Years that dates of every year, and holidays, are resolved for. */
export const FIRST_YEAR = 2000;
export const LAST_YEAR = 2050;

/** Whether a text is a date, or one of every year. */
export function isDate(text: string): boolean {
  // A date of every year may be the 29th of February.
  const day = text.length < 10 ? `2024-${text}` : text;
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** The days of all dates, ascending. Of several for one day the last one counts. */
export function specialDaysOf(all: readonly SpecialDates[]): SpecialDay[] {
  const days = new Map<number, number>();
  for (const { dates, like } of all) {
    const weekday = WEEKDAYS_OF_ISO.indexOf(like);
    for (const day of dates.flatMap(daysOfDate)) days.set(day, weekday);
  }
  return [...days].sort(([a], [b]) => a - b);
}

function daysOfDate(date: string): number[] {
  if (date.length === 10) return [Date.parse(`${date}T00:00:00Z`) / DAY_MS];
  const years = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, i) => FIRST_YEAR + i);
  return years.flatMap((year) => {
    const ms = Date.parse(`${year}-${date}T00:00:00Z`);
    // The 29th of February is in few years.
    return Number.isNaN(ms) || !new Date(ms).toISOString().includes(date) ? [] : ms / DAY_MS;
  });
}
