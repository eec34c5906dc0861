import Type from 'typebox';
import { daysOff, HOLIDAY_TYPES, isPlace, PLACE, PLACE_EXPECTED } from '../../time/holidays/holiday-list.ts';
import { type LocalCalendar, UTC_CALENDAR, zoneOffsets } from '../../time/local-calendar.ts';
import { repeatedDates, type SpecialDates, specialDaysOf, WEEKDAYS_OF_ISO } from '../../time/local-times.ts';
import { oneOf, textOf } from '../schema/kinds.ts';
import { defaulted, listOf, oneOrMore, optional, required, type Setting, section } from '../schema/schema.ts';
import { date, timeZone } from '../schema/times.ts';

const specialDays = section(
  {
    dates: required(oneOrMore(date), 'Dates in local time: 2026-12-24, or 12-24 for every year.'),
    like: required(oneOf(...WEEKDAYS_OF_ISO), 'The weekday that they resemble.'),
  },
  ({ dates, like }): SpecialDates | undefined => (dates && like ? { dates, like } : undefined),
);

const listed = listOf(specialDays);

/** Refuses a date of several entries: no order among them is defined. */
const specialDayList: Setting<readonly SpecialDates[]> = {
  ...listed,
  read(node, place) {
    const entries = listed.read(node, place);
    // Where an entry is refused, the places of the others are not known.
    if (entries === undefined || node.kind !== 'list' || entries.length < node.items.length) return entries;
    for (const { date, entry, earlier } of repeatedDates(entries)) {
      const at = place.item(entry, node.items[entry]);
      at.report(
        `${at.path}.dates must be dates of one entry, got "${date}", which is in ${place.path}[${earlier}], too`,
      );
    }
    return entries;
  },
};

export const onOrOff = oneOf('on', 'off');

const placeText = textOf<string>(PLACE_EXPECTED, (place) => (isPlace(place) ? place : undefined), {
  pattern: PLACE.source,
});

const chosenHolidays = section(
  {
    place: required(placeText, 'A country, a region of it, or a part of that: DE, DE-BY, DE-BY-KATH.'),
    types: defaulted(
      oneOrMore(oneOf(...HOLIDAY_TYPES)),
      ['public'],
      'public, and bank for days on which banks rest, such as Midsummer Eve in SE or Carnival in BR.',
    ),
    like: optional(
      oneOf(...WEEKDAYS_OF_ISO),
      'The weekday that they resemble. Default: the day of rest of the place, sat in IL, fri in EG, sun in most.',
    ),
  },
  ({ place, types, like }) => (place === undefined ? undefined : daysOff({ place, types, like })!),
);

/** A place, or a place with what of it is chosen. */
const holidays: Setting<readonly SpecialDates[]> = {
  ...chosenHolidays,
  expected: PLACE_EXPECTED,
  schema: Type.Union([placeText.schema, chosenHolidays.schema]),
  read(node, at) {
    if (node.kind === 'mapping') return chosenHolidays.read(node, at);
    const place = placeText.read(node, at);
    return place === undefined ? undefined : daysOff({ place })!;
  },
};

/** The keys of a detector for the seasonal profile of hours and weekdays. */
export const profileKeys = {
  profile: defaulted(
    onOrOff,
    'on',
    'Seasonal profile of hours and weekdays of each series or member. It raises alarms, and suppresses those that ' +
      'are usual for an hour. Not for steps above 12 hours.',
  ),
  timezone: optional(timeZone, 'Time zone of the hours and weekdays of series: Europe/Berlin. Default: UTC.'),
  holidays: optional(
    oneOrMore(holidays),
    'Places whose public holidays resemble their day of rest: DE, DE-BY-KATH, or { place: SE, types: [public, bank], ' +
      'like: sun }. `npm start -- holidays PLACE` lists them. `special_days` take precedence.',
  ),
  specialDays: optional(
    specialDayList,
    'Days that resemble another weekday than their own. Each date has one entry; one with a year takes precedence.',
  ),
};

/** The keys as written; undefined if one is missing. */
export interface ProfileWishes {
  readonly profile?: 'on' | 'off' | undefined;
  readonly timezone?: string | undefined;
  /** Days off by their dates, of each place. */
  readonly holidays?: readonly (readonly SpecialDates[])[] | undefined;
  readonly specialDays?: readonly SpecialDates[] | undefined;
}

/** The calendar as data; null if there is no seasonal profile. */
export function calendarOf(wishes: ProfileWishes): LocalCalendar | null {
  const { profile = 'on', timezone = 'UTC', holidays = [], specialDays = [] } = wishes;
  if (profile === 'off') return null;
  if (timezone === 'UTC' && holidays.length + specialDays.length === 0) return UTC_CALENDAR;
  return { offsets: zoneOffsets(timezone), specialDays: specialDaysOf(holidays.flat(), specialDays) };
}
