import type { SpecialDay } from './local-calendar.ts';

/** Times that come once, or come again on the clock of a place. */

const DAY_MS = 86_400_000;

export const WEEKDAYS_OF_ISO = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS_OF_ISO)[number];

/** From one instant to another, the end excluded, in milliseconds since the epoch. */
export interface TimesOnce {
  readonly startMs: number;
  readonly endMs: number;
}

/** The same times of the day on days of a calendar. */
export interface TimesDaily {
  /** Weekdays on which they begin; empty for every day. */
  readonly days: readonly Weekday[];
  /** Dates on which they begin, as `2026-12-24`, or `12-24` for every year; empty for every date. */
  readonly dates: readonly string[];
  /** Minutes since midnight. An end that is not after the start is on the next day. */
  readonly from: number;
  readonly to: number;
  /** As in the time zone database: `Europe/Berlin`. */
  readonly timeZone: string;
}

export type LocalTimes = TimesOnce | TimesDaily;

/**
 * Whether an event time is one of these times. Where clocks are set back, an hour that comes twice counts twice; where
 * they are set forward, an hour that does not come does not count.
 */
export function isWithin(times: LocalTimes, timestampMs: number): boolean {
  if ('startMs' in times) return timestampMs >= times.startMs && timestampMs < times.endMs;
  const { from, to } = times;
  const { minute, ...today } = localMinute(times.timeZone, timestampMs);
  if (to > from) return minute >= from && minute < to && beginOn(times, today);
  return (minute >= from && beginOn(times, today)) || (minute < to && beginOn(times, dayBefore(today)));
}

function beginOn({ days, dates }: TimesDaily, { weekday, date }: LocalDay): boolean {
  const onDay = days.length === 0 || days.includes(weekday);
  return onDay && (dates.length === 0 || dates.includes(date) || dates.includes(date.slice(5)));
}

interface LocalDay {
  readonly weekday: Weekday;
  /** As `2026-12-24`. */
  readonly date: string;
}

/** By time zone. It takes long to make one, and there are a few hundred. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The minute is counted from midnight. */
function localMinute(timeZone: string, timestampMs: number): LocalDay & { readonly minute: number } {
  let format = FORMATS.get(timeZone);
  if (format === undefined) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts });
    FORMATS.set(timeZone, format);
  }
  const parts = new Map(format.formatToParts(timestampMs).map(({ type, value }) => [type, value]));
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
  return { date, weekday: weekdayOf(date), minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) };
}

function weekdayOf(date: string): Weekday {
  return WEEKDAYS_OF_ISO[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7];
}

function dayBefore({ date }: LocalDay): LocalDay {
  const before = new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
  return { date: before, weekday: weekdayOf(before) };
}

/** True if the time zone database knows a place. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Dates on which things are as on another weekday. */
export interface SpecialDates {
  /** As `2026-12-24`, or `12-24` for every year. */
  readonly dates: readonly string[];
  readonly like: Weekday;
}

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
