import { weekdayOf } from '../../calendar/local-calendar.ts';
import type { AnomalyEvent, EventDirection, EventKind } from '../../record/anomaly-event.ts';
import { quantityTexts } from '../../record/quantity-text.ts';
import type { SeasonAlarm } from '../alarm/alarm.ts';
import { habitText } from './daily-habit.ts';
import type { Rarity } from './event-extremes.ts';

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

const SIGNIFICANT_DIGITS = 6;
const DAY_MS = 86_400_000;

interface Summarised
  extends Pick<
    AnomalyEvent,
    'kind' | 'direction' | 'value' | 'expected' | 'unusual' | 'members' | 'seriesCount' | 'unit'
  > {
  /** Days in a row on which an event began at this time. */
  readonly days: number;
}

type EventLength = Pick<AnomalyEvent, 'startedAtMs' | 'endedAtMs' | 'closeReason'>;

/** What values stay in. */
const NEW_STATES: Partial<Record<EventKind, string>> = {
  level_shift: 'a new level',
  drift: 'a new level',
  stuck: 'stuck',
  missing_season: 'without a season',
};

/**
 * One sentence without a full stop: `Level shift up: 512 where 430.2 was expected, highest in 14 days`.
 * Once it is closed it tells how long it lasted, or since when values are as they are.
 */
export function summaryOf(event: Summarised, length: EventLength): string {
  const { kind, direction, value, expected, unusual, members, seriesCount, unit, days } = event;
  const [valueText, expectedText] =
    unit === null ? [value, expected].map(shown) : quantityTexts([value, expected], unit);
  const way = DIRECTED.includes(kind) ? DIRECTION_NAMES[direction] : '';
  const expectation = expected === null ? '' : ` where ${expectedText} was expected`;
  const missed = seriesCount === null ? 'no value where one was due' : `no value of any of ${seriesCount} series`;
  const nothing = kind === 'silence' ? `: ${missed}` : '';
  const seen = value === null ? nothing : `: ${valueText}${expectation}`;
  const [first] = members;
  const mostly = first === undefined ? '' : `, mostly ${first.series} (${Math.round(100 * first.share)} %)`;
  const more = [unusual, habitText(days)].filter((text) => text !== null).map((text) => `, ${text}`);
  return `${KIND_NAMES[kind]}${way}${seen}${mostly}${more.join('')}${lengthText(kind, length)}`;
}

function lengthText(kind: EventKind, { startedAtMs, endedAtMs, closeReason }: EventLength): string {
  if (endedAtMs === null) return '';
  if (closeReason !== 'new_level') return `, for ${durationText(endedAtMs - startedAtMs)}`;
  const since = `${new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `, ${NEW_STATES[kind] ?? 'not back'} since ${since}`;
}

/** `highest in 14 days`; null below a day: most series are at their highest once in each. */
export function rarityText({ side, rows }: Rarity, stepMs: number): string | null {
  return rows * stepMs < DAY_MS ? null : `${side} in ${durationText(rows * stepMs)}`;
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
/** What a time of the week usually shows lies within so many deviations. */
export const USUAL_DEVIATIONS = 2;
const RANGE_DIGITS = 3;

/** `lower than usual for a Tuesday 09:00 (usually 900 to 1080)`; null where forecasts alone find it so. */
export function seasonText(value: number, season: SeasonAlarm, unit: string | null): string | null {
  const { expected, deviation, raised, localMs } = season;
  if (!raised && Math.abs(value - expected) <= USUAL_DEVIATIONS * deviation) return null;
  const way = value < expected ? 'lower' : 'higher';
  const weekday = WEEKDAYS[weekdayOf(Math.floor(localMs / DAY_MS))];
  const time = new Date(localMs).toISOString().slice(11, 16);
  const range = [-USUAL_DEVIATIONS, USUAL_DEVIATIONS].map((times) => {
    return Number((expected + times * deviation).toPrecision(RANGE_DIGITS));
  });
  const [from, to] = unit === null ? range.map(String) : quantityTexts(range, unit);
  return `${way} than usual for a ${weekday} ${time} (usually ${from} to ${to})`;
}

const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const;

/** Whole units, rounded down, of the largest unit of which there are two: `36 hours`. */
export function durationText(ms: number): string {
  const { name, ms: unitMs } = UNITS.find((unit) => ms >= 2 * unit.ms) ?? UNITS[UNITS.length - 1];
  const count = Math.floor(ms / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

function shown(value: number | null): string {
  return value === null ? '' : String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}
