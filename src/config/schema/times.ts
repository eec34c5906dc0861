import {
  isDate,
  isTimeZone,
  type LocalTimes,
  type TimesDaily,
  type TimesOnce,
  WEEKDAYS_OF_ISO,
} from '../../time/local-times.ts';
import { oneOf, textOf } from './kinds.ts';
import type { MappingPlace } from './place.ts';
import { defaulted, oneOrMore, optional, type SectionFields } from './schema.ts';

const DATE = /^(?:\d{4}-)?\d{2}-\d{2}$/;
export const date = textOf(
  'a date such as 2026-12-24, or 12-24 for every year',
  (text) => (isDate(text) ? text : undefined),
  { pattern: DATE.source },
);
export const timeZone = textOf('a time zone such as Europe/Berlin or UTC', (name) =>
  isTimeZone(name) ? name : undefined,
);
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/;
export const instant = textOf(
  'a time with its zone such as 2026-12-24T18:00:00+01:00',
  (text) => {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? undefined : ms;
  },
  { pattern: INSTANT.source },
);
const DAY_MINUTES = 1_440;
const TIME_OF_DAY = /^(\d{2}):([0-5]\d)$/;
const timeOfDay = textOf(
  'a time of the day such as 22:00',
  (text) => {
    const [, hours, minutes] = TIME_OF_DAY.exec(text)!;
    const minute = Number(hours) * 60 + Number(minutes);
    return minute <= DAY_MINUTES ? minute : undefined;
  },
  { pattern: TIME_OF_DAY.source },
);

/** From one instant to another, or the same times of the day on some days. */
export const timesKeys = {
  start: optional(instant, 'Start of a single period, with its zone.'),
  end: optional(instant, 'Their end.'),
  timeZone: optional(timeZone, 'An IANA name; required for times of the day.'),
  days: optional(oneOrMore(oneOf(...WEEKDAYS_OF_ISO)), 'Days on which the period starts. Default: all.'),
  dates: optional(oneOrMore(date), 'Dates on which the period starts, in every year or in one. Default: all.'),
  from: defaulted(timeOfDay, '00:00', 'First time of the day.'),
  to: defaulted(timeOfDay, '24:00', 'End; on the next day if it is not after `from`. 24:00 is the end of the day.'),
};

type TimesFields = SectionFields<typeof timesKeys>;

/** Times that come once where `start` or `end` is set, otherwise those of days. undefined after a problem. */
export function timesOf(fields: TimesFields, place: MappingPlace): LocalTimes | undefined {
  return place.has('start') || place.has('end') ? timesOnce(fields, place) : timesDaily(fields, place);
}

function timesOnce({ start, end }: TimesFields, place: MappingPlace): TimesOnce | undefined {
  for (const key of ['start', 'end'] as const) if (!place.has(key)) place.problem(key, instant.expected, undefined);
  for (const key of ['time_zone', 'days', 'dates', 'from', 'to'].filter((key) => place.has(key))) {
    place.reportKey(key, `${place.pathOf(key)} is set, but start and end are a single period`);
  }
  if (start === undefined || end === undefined) return undefined;
  if (end <= start) place.problem('end', 'after start', new Date(end).toISOString());
  return { startMs: start, endMs: end };
}

function timesDaily(
  { days, dates, from, to, timeZone: zone }: TimesFields,
  place: MappingPlace,
): TimesDaily | undefined {
  if (!place.has('time_zone')) place.problem('time_zone', timeZone.expected, undefined);
  return zone === undefined ? undefined : { days: days ?? [], dates: dates ?? [], from, to, timeZone: zone };
}
