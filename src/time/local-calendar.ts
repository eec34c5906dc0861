/**
 * The clock and the weekdays of a place, as data: once made it depends on no time zone database and on no list of
 * holidays, so that a newer one changes no replay.
 */
export interface LocalCalendar {
  /** Distances of local time from UTC, each from an instant on, ascending; empty for UTC. */
  readonly offsets: readonly ZoneOffset[];
  /** Days that resemble another weekday than their own, ascending. */
  readonly specialDays: readonly SpecialDay[];
}

type ZoneOffset = readonly [fromMs: number, offsetMs: number];
/** Days since 1970-01-01 by local time; weekdays from 0, Monday. */
export type SpecialDay = readonly [day: number, weekday: number];

export const UTC_CALENDAR: LocalCalendar = { offsets: [], specialDays: [] };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;
/** Clock changes are looked for between these instants. Before and after them the nearest distance holds. */
const FIRST_MS = Date.UTC(1970, 0);
const LAST_MS = Date.UTC(2060, 0);
/** No place changes its clock twice within so long. */
const APART_MS = 7 * DAY_MS;

/** Distance of local time from UTC in milliseconds. */
export function offsetAt({ offsets }: Pick<LocalCalendar, 'offsets'>, timestampMs: number): number {
  if (offsets.length === 0) return 0;
  let [low, high] = [0, offsets.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (offsets[middle][0] <= timestampMs) low = middle;
    else high = middle;
  }
  return offsets[low][1];
}

/** Instant at which a clock shows a time, which is given as if it were UTC. */
export function instantOf(calendar: Pick<LocalCalendar, 'offsets'>, localMs: number): number {
  return localMs - offsetAt(calendar, localMs - offsetAt(calendar, localMs));
}

/** The instants at which a clock shows a time, ascending: two as it is set back, none as it is set forward. */
export function instantsOf(calendar: Pick<LocalCalendar, 'offsets'>, localMs: number): readonly number[] {
  const around = [offsetAt(calendar, localMs - DAY_MS), offsetAt(calendar, localMs + DAY_MS)];
  const instants = [...new Set(around)].map((offsetMs) => localMs - offsetMs);
  return instants.filter((ms) => ms + offsetAt(calendar, ms) === localMs).sort((a, b) => a - b);
}

/** The weekday of a day since 1970-01-01, from 0, Monday. */
export function weekdayOf(day: number): number {
  return (((day + FIRST_WEEKDAY) % 7) + 7) % 7;
}

/** The clock of a place by the time zone database of this version of Node: `Europe/Berlin`. */
export function zoneOffsets(timeZone: string): readonly ZoneOffset[] {
  const known = ZONES.get(timeZone) ?? offsetsOf(timeZone);
  ZONES.set(timeZone, known);
  return known;
}

/** It takes 20 ms to make one, and there are a few hundred. */
const ZONES = new Map<string, readonly ZoneOffset[]>();

function offsetsOf(timeZone: string): readonly ZoneOffset[] {
  const offsetOf = zoneClock(timeZone);
  const offsets: ZoneOffset[] = [[FIRST_MS, offsetOf(FIRST_MS)]];
  for (let fromMs = FIRST_MS; fromMs < LAST_MS; fromMs += APART_MS) {
    const [before, after] = [offsets[offsets.length - 1][1], offsetOf(fromMs + APART_MS)];
    if (after !== before) offsets.push([changeBetween(offsetOf, fromMs, fromMs + APART_MS), after]);
  }
  return offsets.length === 1 && offsets[0][1] === 0 ? [] : offsets;
}

/** The first minute in (from, to] with the distance at `to`. */
function changeBetween(offsetOf: (ms: number) => number, fromMs: number, toMs: number): number {
  const after = offsetOf(toMs);
  let [low, high] = [fromMs, toMs];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetOf(middle) === after) high = middle;
    else low = middle;
  }
  return high;
}

function zoneClock(timeZone: string): (ms: number) => number {
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts });
  return (ms) => {
    const [month, day, year, hour, minute] = format.format(ms).match(/\d+/g)!.map(Number);
    return Date.UTC(year, month - 1, day, hour, minute) - ms;
  };
}
