import type { TimeUnit } from '../../config/config.ts';
import type { DeadLetterReason } from '../../records/dead-letter.ts';
import { instantsOf, type LocalCalendar, UTC_CALENDAR } from '../../time/local-calendar.ts';
import { quoted } from '../formats/quoted.ts';

/** An earlier event time than 1980-01-01 is implausible: its unit is probably wrong. */
export const EVENT_TIME_MS_MIN = Date.UTC(1980, 0, 1);
/** An event time from 2200-01-01 on is implausible: its unit is probably wrong. */
export const EVENT_TIME_MS_MAX = Date.UTC(2200, 0, 1);

type Clock = Pick<LocalCalendar, 'offsets'>;

type NumericUnit = Exclude<TimeUnit, 'iso'>;
const NUMERIC_UNITS: readonly NumericUnit[] = ['s', 'ms', 'us', 'ns'];
const ZONE = /[Zz]$|:\d{2}(?:[.,]\d+)?[+-]\d{2}(?::?\d{2})?$/;
const NUMERIC = /^[+-]?\d+(\.\d+)?$/;
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|([+-])(\d{2}):?(\d{2})?)?)?$/;

/**
 * Milliseconds since the epoch, rounded to an integer; NaN when `raw` is not a time in this unit. Numeric units take
 * numbers, bigints and numeric strings. `iso` takes ISO 8601 strings. Without a zone they are of `clock`: the first of
 * two instants at which it shows them, NaN if it never does. Protobuf's Timestamp is a time of its own in any unit.
 */
export function readEventTime(raw: unknown, unit: TimeUnit, clock: Clock = UTC_CALENDAR): number {
  if (typeof raw === 'object' && raw !== null) return ownTimeMs(raw);
  if (unit === 'iso') return typeof raw === 'string' ? (instantsOfIso(raw, clock)[0] ?? Number.NaN) : Number.NaN;
  if (typeof raw === 'number') return toMilliseconds(raw, unit);
  if (typeof raw === 'bigint') return toMilliseconds(Number(raw), unit);
  return typeof raw === 'string' && NUMERIC.test(raw) ? toMilliseconds(Number(raw), unit) : Number.NaN;
}

/** The second instant at which a clock that is set back shows a time without a zone; null if it shows it once. */
export function laterInstant(raw: unknown, clock: Clock): number | null {
  return (typeof raw === 'string' && instantsOfIso(raw, clock)[1]) || null;
}

/** True if an ISO 8601 time names no zone. */
export function isZoneless(raw: unknown): boolean {
  return typeof raw === 'string' && ISO.exec(raw) !== null && !ZONE.test(raw);
}

function instantsOfIso(text: string, clock: Clock): readonly number[] {
  const ms = parseIso(text);
  if (Number.isNaN(ms)) return [];
  return clock.offsets.length === 0 || ZONE.test(text) ? [ms] : instantsOf(clock, ms);
}

function ownTimeMs(raw: { readonly toEpochMs?: unknown }): number {
  return typeof raw.toEpochMs === 'function' ? Math.round(raw.toEpochMs()) : Number.NaN;
}

/** True if the time is between 1980 and 2200 and not later than `latestMs`. */
export function isPlausible(timestampMs: number, latestMs: number): boolean {
  return timestampMs >= EVENT_TIME_MS_MIN && timestampMs < EVENT_TIME_MS_MAX && timestampMs <= latestMs;
}

interface RefusedTime {
  readonly unit: TimeUnit;
  readonly timestampMs: number;
  readonly latestMs: number;
  /** The clock that a time without a zone is of; null, or left out: UTC. */
  readonly timeZone?: string | null;
}

/** Why `raw` was refused. `timestampMs` is the result of `readEventTime`. */
export function explainEventTime(
  raw: unknown,
  { unit, timestampMs, latestMs, timeZone }: RefusedTime,
): { reason: DeadLetterReason; detail: string } {
  if (raw === undefined || raw === null) return { reason: 'time-missing', detail: 'the record has no time' };
  const read = `the time is ${quoted(raw)}`;
  const isSkipped = Number.isNaN(timestampMs) && unit === 'iso' && !Number.isNaN(readEventTime(raw, unit));
  if (isSkipped) {
    const detail = `${read}: the clock of ${timeZone} skips it, because it is set forward`;
    return { reason: 'time-unreadable', detail };
  }
  if (Number.isNaN(timestampMs)) return { reason: 'time-unreadable', detail: `${read}: ${whyUnreadable(raw, unit)}` };
  if (timestampMs >= EVENT_TIME_MS_MIN && timestampMs < EVENT_TIME_MS_MAX) {
    const aheadMs = Math.ceil(timestampMs - latestMs);
    return {
      reason: 'time-in-future',
      detail: `${read}: ${aheadMs} ms further ahead of the clock than future_limit allows`,
    };
  }
  const fitting = fittingUnit(raw);
  const hint = fitting === null ? 'no unit makes it a time from 1980 to 2199' : `it would make sense in ${fitting}`;
  return { reason: 'time-implausible', detail: `${read}, which is no time from 1980 to 2199 in ${unit}; ${hint}` };
}

function toMilliseconds(time: number, unit: NumericUnit): number {
  if (!Number.isFinite(time)) return Number.NaN;
  if (unit === 'ms') return Math.round(time);
  if (unit === 's') return Math.round(time * 1_000);
  return Math.round(unit === 'us' ? time / 1_000 : time / 1_000_000);
}

function parseIso(text: string): number {
  const match = ISO.exec(text);
  if (match === null) return Number.NaN;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', , sign, zoneHour, zoneMinute] =
    match;
  const midnightMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(midnightMs);
  const exists = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!exists || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  const timeMs = Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1_000;
  const fractionMs = fraction === '' ? 0 : Math.round(Number(`0.${fraction}`) * 1_000);
  const zoneMs = sign === undefined ? 0 : Number(zoneHour) * 3_600_000 + Number(zoneMinute ?? '0') * 60_000;
  return midnightMs + timeMs + fractionMs - (sign === '-' ? -zoneMs : zoneMs);
}

function whyUnreadable(raw: unknown, unit: TimeUnit): string {
  if (unit === 'iso') {
    const fitting = fittingUnit(raw);
    return fitting === null ? 'not an ISO 8601 date' : `not an ISO 8601 date; it would make sense in ${fitting}`;
  }
  const isIso = typeof raw === 'string' && !Number.isNaN(parseIso(raw));
  return isIso ? `not a number of ${unit}; it would make sense in iso` : `not a number of ${unit}`;
}

function fittingUnit(raw: unknown): NumericUnit | null {
  const fits = (unit: NumericUnit) => isPlausible(readEventTime(raw, unit), EVENT_TIME_MS_MAX);
  return NUMERIC_UNITS.find(fits) ?? null;
}
