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

/** True if a text is a date, or one of every year. */
export function isDate(text: string): boolean {
  // A date of every year may be the 29th of February.
  const day = text.length < 10 ? `2024-${text}` : text;
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Dates of an entry, with their place in it, that an earlier entry has as well: which of them counts is not known. */
export function repeatedDates(entries: readonly SpecialDates[]) {
  const entryOf = new Map<string, number>();
  return entries.flatMap(({ dates }, entry) =>
    dates.flatMap((date, place) => {
      const earlier = entryOf.get(date) ?? entry;
      entryOf.set(date, earlier);
      return earlier === entry ? [] : [{ date, entry, place, earlier }];
    }),
  );
}

/** The days of all dates, ascending. Special days win over holidays, a date of one year over one of every year. */
export function specialDaysOf(holidays: readonly SpecialDates[], special: readonly SpecialDates[]): SpecialDay[] {
  const days = new Map<number, number>();
  const keep = ({ dates, like }: SpecialDates, isKept: (date: string) => boolean) => {
    const weekday = WEEKDAYS_OF_ISO.indexOf(like);
    for (const day of dates.filter(isKept).flatMap(daysOfDate)) days.set(day, weekday);
  };
  for (const each of holidays) keep(each, () => true);
  for (const each of special) keep(each, (date) => !isOfOneYear(date));
  for (const each of special) keep(each, isOfOneYear);
  return [...days].sort(([a], [b]) => a - b);
}

const isOfOneYear = ({ length }: string) => length === 10;

function daysOfDate(date: string): number[] {
  if (isOfOneYear(date)) return [Date.parse(`${date}T00:00:00Z`) / DAY_MS];
  const years = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, i) => FIRST_YEAR + i);
  return years.flatMap((year) => {
    const ms = Date.parse(`${year}-${date}T00:00:00Z`);
    // The 29th of February is in few years.
    return Number.isNaN(ms) || !new Date(ms).toISOString().includes(date) ? [] : ms / DAY_MS;
  });
}
