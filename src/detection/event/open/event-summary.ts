import type { AnomalyEvent, EventDirection, EventKind } from '../../../records/anomaly-event.ts';
import { numberTexts, roundedBy, seenTexts } from '../../../records/text/seen-text.ts';
import { weekdayOf } from '../../../time/local-calendar.ts';
import type { SeasonAlarm } from '../../alarm/alarm.ts';
import type { Rarity } from '../kind/event-extremes.ts';
import { habitText } from './habits.ts';

const KIND_NAMES: Readonly<Record<EventKind, string>> = {
  spike: 'Spike',
  dip: 'Dip',
  level_shift: 'Level shift',
  drift: 'Drift',
  missing_season: 'Missing season',
  stuck: 'Stuck value',
  burst: 'Burst',
  silence: 'Silence',
};
/** Kinds that go one way; the names of the others imply it, or they have none. */
const DIRECTED: readonly EventKind[] = ['level_shift', 'drift'];
const DIRECTION_NAMES: Readonly<Record<EventDirection, string>> = { up: ' up', down: ' down', both: '' };

const DAY_MS = 86_400_000;

interface Summarised
  extends Pick<
    AnomalyEvent,
    'kind' | 'direction' | 'value' | 'expected' | 'lo' | 'hi' | 'unusual' | 'members' | 'seriesCount' | 'unit'
  > {
  /** Days in a row on which an event began at this time. */
  readonly days: number;
  /** The member of a group whose value it is; left out where that is not known. */
  readonly of?: string | undefined;
}

interface EventLength extends Pick<AnomalyEvent, 'startedAtMs' | 'endedAtMs' | 'closeReason'> {
  /** Time since which the values of an open event are back. */
  readonly recoveringSinceMs?: number | null;
  /** Event time of what times are distances from: 0 where they are times, null if it is not known. */
  readonly originMs: number | null;
}

/** States in which values stay. */
const NEW_STATES: Partial<Record<EventKind, string>> = { stuck: 'stuck', missing_season: 'without a season' };
const NEW_LEVEL = 'at a new level';
/** A share that would be shown as 100 %. */
const ALONE_SHARE = 0.995;
/** If the first member shows less, the number of members that show half of that or more is stated. */
const MOST_SHARE = 0.5;
const ALIKE_SHARE = 0.5;

/**
 * One sentence without a full stop: `Level shift up: 512 where 430.2 was expected, highest in 14 days`.
 * Once values are back it shows how long it lasted, or since when values are as they are.
 */
export function summaryOf(event: Summarised, length: EventLength): string {
  const { kind, direction, unusual, members, days } = event;
  const way = DIRECTED.includes(kind) ? DIRECTION_NAMES[direction] : '';
  // The rarity of one value is no property of values that repeat, or hardly vary.
  const isOfValue = kind !== 'stuck' && kind !== 'missing_season';
  const more = [isOfValue ? unusual : null, habitText(days), lengthText(kind, length)];
  const clauses = more.filter((text) => text !== null).map((text) => `, ${text}`);
  return `${KIND_NAMES[kind]}${way}${seenText(event)}${memberText(members)}${clauses.join('')}`;
}

function seenText({ kind, value, unusual, seriesCount, unit, members, of, ...bounds }: Summarised): string {
  if (kind === 'silence') {
    return seriesCount === null ? ': no value where one was due' : `: no value of any of ${seriesCount} series`;
  }
  if (kind === 'missing_season') return ': values vary by less than half of what is usual';
  if (value === null) return '';
  const [valueText, expectedText] = seenTexts({ value, unit, ...bounds });
  const member = of === undefined || of === members[0]?.series ? '' : ` in ${of}`;
  const expectation = expectedText === null ? '' : ` where ${expectedText} was expected`;
  if (kind === 'stuck') return `: ${valueText}${member} again and again${isOutside(value, bounds) ? expectation : ''}`;
  const isReported = unusual !== null && HAS_RANGE.test(unusual);
  const average = unusual !== null && IS_OF_DAY.test(unusual) ? ' on average' : '';
  return `: ${valueText}${average}${member}${isReported ? '' : expectation}`;
}

/** An expectation is stated if values are stuck outside of the interval. */
function isOutside(value: number, { lo, hi }: Pick<Summarised, 'lo' | 'hi'>): boolean {
  return lo !== null && hi !== null && (value < lo || value > hi);
}

function memberText(members: AnomalyEvent['members']): string {
  const [first] = members;
  if (first === undefined) return '';
  const { series, share } = first;
  if (share >= ALONE_SHARE) return `, in ${series} alone`;
  const shown = `${series} (${Math.round(100 * share)} %)`;
  const alike = members.filter((member) => member.share >= ALIKE_SHARE * share).length;
  return share >= MOST_SHARE || alike === 1 ? `, mostly ${shown}` : `, in ${alike} members, most in ${shown}`;
}

function lengthText(kind: EventKind, length: EventLength): string | null {
  const { startedAtMs, endedAtMs, recoveringSinceMs = null, closeReason, originMs } = length;
  const endMs = endedAtMs ?? recoveringSinceMs;
  if (endMs === null) return null;
  const lastedMs = endMs - startedAtMs;
  const lasted = lastedMs < 1_000 ? null : `for ${durationText(lastedMs)}`;
  if (endedAtMs === null) {
    const recovering = `recovering${sinceText(endMs, originMs)}`;
    return lasted === null ? recovering : `${lasted}, ${recovering}`;
  }
  if (closeReason !== 'new_level') return lasted;
  return `${NEW_STATES[kind] ?? NEW_LEVEL}${sinceText(startedAtMs, originMs)}`;
}

function sinceText(atMs: number, originMs: number | null): string {
  if (originMs === null) return '';
  return ` since ${new Date(originMs + atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `highest in 14 days`; null below a day: most series are at their highest once in each. */
export function rarityText({ side, rows }: Rarity, stepMs: number): string | null {
  return rows * stepMs < DAY_MS ? null : `${side} in ${durationText(rows * stepMs)}`;
}

/** Range of the values of a series, as far as is known, and its unit. */
export interface ShownRange {
  readonly unit: string | null;
  readonly least: number;
  readonly most: number;
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
/** Usual values of a time of the week are within so many deviations. */
export const USUAL_DEVIATIONS = 2;
/** Its centre is what was expected. */
const HAS_RANGE = /\(usually .+\)$/;
const IS_OF_DAY = /^the day up to /;

/** Usual values of a time of the week. */
export function usualRange({ expected, deviation }: SeasonAlarm): readonly [number, number] {
  const margin = USUAL_DEVIATIONS * deviation;
  return [expected - margin, expected + margin];
}

/**
 * `lower than usual for a Tuesday 09:00 (usually 900 to 1080)`; null if forecasts alone find it so. Where the long
 * memory raised the alarm of values that are usual one by one: `on average lower than usual for a Tuesday 09:00
 * (usually around 990)`. Of a whole day, as far as it goes: `the day up to 17:00 is 13 % lower than usual
 * for a Tuesday (usually around 990)`; the value is its mean.
 */
export function seasonText(value: number, season: SeasonAlarm, { unit, least, most }: ShownRange): string | null {
  const { expected, deviation, recentMean, raised, localMs, day } = season;
  const margin = USUAL_DEVIATIONS * deviation;
  const isUsual = Math.abs(value - expected) <= margin;
  if (!raised && isUsual) return null;
  const way = (isUsual ? recentMean : value) < expected ? 'lower' : 'higher';
  const weekday = WEEKDAYS[weekdayOf(Math.floor(localMs / DAY_MS))];
  const hour = new Date(localMs).toISOString().slice(11, 16);
  const time = `${weekday} ${hour}`;
  const textsOf = (...values: number[]) => numberTexts(values.map(rounded), unit);
  const rounded = (each: number) => Math.max(least, Math.min(roundedBy(each, margin), most));
  if (day !== undefined) {
    const share = least < 0 ? '' : percentText(recentMean / expected - 1);
    const usual = `than usual for a ${weekday} (usually around ${textsOf(expected)[0]})`;
    return `the day up to ${hour} is ${share}${way} ${usual}`;
  }
  if (isUsual) return `on average ${way} than usual for a ${time} (usually around ${textsOf(expected)[0]})`;
  const [from, to] = textsOf(...usualRange(season));
  return `${way} than usual for a ${time} (usually ${from} to ${to})`;
}

/** `13 % `; empty for 0 and for no number. */
function percentText(share: number): string {
  const shown = (100 * Math.abs(share)).toFixed(0);
  return Number.isFinite(share) && shown !== '0' ? `${shown} % ` : '';
}

const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const;

/** Whole units, rounded down, of the largest unit of which there are two, or exactly one: `36 hours`, `1 hour`. */
export function durationText(ms: number): string {
  const { name, ms: unitMs } = UNITS.find((unit) => ms >= 2 * unit.ms || ms === unit.ms) ?? UNITS[UNITS.length - 1];
  const count = Math.floor(ms / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
