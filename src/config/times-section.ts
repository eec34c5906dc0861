import {
  isTimeZone,
  type LocalTimes,
  type TimesDaily,
  type TimesOnce,
  WEEKDAYS_OF_ISO,
} from '../calendar/local-times.ts';
import { oneOf, textOf } from './kinds.ts';
import type { Section } from './yaml-section.ts';

const weekday = oneOf(...WEEKDAYS_OF_ISO);
const date = textOf('a date such as 2026-12-24, or 12-24 for every year', (text) => {
  if (!/^(?:\d{4}-)?\d{2}-\d{2}$/.test(text)) return undefined;
  // A date of every year may be the 29th of February.
  const day = text.length < 10 ? `2024-${text}` : text;
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) ? text : undefined;
});
const timeZone = textOf('a time zone such as Europe/Berlin or UTC', (name) => (isTimeZone(name) ? name : undefined));
const instant = textOf('a time with its zone such as 2026-12-24T18:00:00+01:00', (text) => {
  const ms = Date.parse(text);
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(ms) ? ms : undefined;
});
const DAY_MINUTES = 1_440;
const timeOfDay = textOf('a time of the day such as 22:00', (text) => {
  const match = /^(\d{2}):(\d{2})$/.exec(text);
  const minutes = match === null ? Number.NaN : Number(match[1]) * 60 + Number(match[2]);
  return minutes <= DAY_MINUTES && Number(match?.[2]) < 60 ? minutes : undefined;
});

/** From one instant to another, or the same times of the day on some days. Closes the section. */
export function readTimes(section: Section): LocalTimes | null {
  const isOnce = section.has('start') || section.has('end');
  const times = isOnce ? readOnce(section) : readDaily(section);
  section.close();
  return times;
}

function readOnce(section: Section): TimesOnce | null {
  const start = section.read('start', instant, 'required');
  const end = section.read('end', instant, 'required');
  if (start === undefined || end === undefined) return null;
  if (end <= start) section.problem('end', 'after start', new Date(end).toISOString());
  return { startMs: start, endMs: end };
}

function readDaily(section: Section): TimesDaily | null {
  const days = section.readList('days', weekday) ?? [];
  const dates = section.readList('dates', date) ?? [];
  const from = section.read('from', timeOfDay) ?? 0;
  const to = section.read('to', timeOfDay) ?? DAY_MINUTES;
  const zone = section.read('time_zone', timeZone, 'required');
  return zone === undefined ? null : { days, dates, from, to, timeZone: zone };
}
