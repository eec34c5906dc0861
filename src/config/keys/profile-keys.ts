import { type LocalCalendar, UTC_CALENDAR, zoneOffsets } from '../../calendar/local-calendar.ts';
import { WEEKDAYS_OF_ISO } from '../../calendar/local-times.ts';
import { repeatedDates, type SpecialDates, specialDaysOf } from '../../calendar/special-days.ts';
import { publicHolidays } from '../../holidays.ts';
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

/** Which of several entries of a date counts would not be known. */
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

const holidays = textOf<SpecialDates>(
  'a country whose holidays are known, or a region of it, such as DE or DE-BY',
  (place) => {
    const dates = publicHolidays(place);
    return dates === null ? undefined : { dates, like: 'sun' };
  },
  { pattern: '^[A-Z]{2}(-[A-Za-z0-9]{1,5})?$' },
);

/** The keys of a detector for the long memory of hours and weekdays. */
export const profileKeys = {
  profile: defaulted(
    onOrOff,
    'on',
    'Whether each series has a long memory of what its hours and weekdays show: alarms of its own, and none for what ' +
      'an hour always shows. Members of groups have one each. Not for steps above 12 hours.',
  ),
  timezone: optional(timeZone, 'IANA name of the clock and weekdays that series follow: Europe/Berlin. Default: UTC.'),
  holidays: optional(
    oneOrMore(holidays),
    'Places whose public holidays resemble a Sunday, a country or a region of it: DE, DE-BY, US. `special_days` win.',
  ),
  specialDays: optional(
    specialDayList,
    'Days that resemble another weekday than their own. A date stands in one entry; one with its year wins over 12-24.',
  ),
};

/** What the keys say; undefined where a key is not written. */
export interface ProfileWishes {
  readonly profile?: 'on' | 'off' | undefined;
  readonly timezone?: string | undefined;
  /** Public holidays by their dates. */
  readonly holidays?: readonly SpecialDates[] | undefined;
  readonly specialDays?: readonly SpecialDates[] | undefined;
}

/** The calendar as data; null where there is no long memory. */
export function calendarOf(wishes: ProfileWishes): LocalCalendar | null {
  const { profile = 'on', timezone = 'UTC', holidays = [], specialDays = [] } = wishes;
  if (profile === 'off') return null;
  if (timezone === 'UTC' && holidays.length + specialDays.length === 0) return UTC_CALENDAR;
  return { offsets: zoneOffsets(timezone), specialDays: specialDaysOf(holidays, specialDays) };
}
