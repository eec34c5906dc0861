import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import type { HolidaysTypes } from 'date-holidays';
import { FIRST_YEAR, LAST_YEAR, type SpecialDates, type Weekday } from '../local-times.ts';
import { CORRECTIONS, type Correction } from './corrections.ts';
import { restDayOf } from './rest-days.ts';

/**
 * A country of ISO 3166-1, a region of it and a part of that as the list names them: `DE`, `DE-BY`, `DE-BY-KATH`.
 */
export const PLACE = /^[A-Z]{2}(-[A-Za-z0-9]{1,20}){0,2}$/;

export const PLACE_EXPECTED =
  'a country whose holidays are known, a region of it or a part of that, such as DE, DE-BY or DE-BY-KATH';

export const HOLIDAY_TYPES = ['public', 'bank'] as const;
type HolidayType = (typeof HOLIDAY_TYPES)[number];

export interface Holiday {
  /** As `2026-12-24`, in local time. */
  readonly date: string;
  readonly name: string;
  readonly type: HolidayType;
  /** The day of rest of the place. */
  readonly like: Weekday;
  /** The local time at which a part of a day begins, which is no day off; null for a whole day. */
  readonly from: string | null;
  /** A day off for a holiday on a weekend. */
  readonly substitute: boolean;
  /** True if it follows the moon, and may come a day earlier or later than was computed. */
  readonly estimated: boolean;
}

/** Holidays that a series follows. */
export interface ChosenHolidays {
  readonly place: string;
  readonly types?: readonly HolidayType[] | null | undefined;
  /** The weekday that they resemble; default: the day of rest of the place. */
  readonly like?: Weekday | null | undefined;
}

const DAY_MS = 86_400_000;
/** A day on which clocks change has an hour more or less. */
const CLOCK_CHANGE_MS = 3_600_000;
const LUNAR_MONTH = /Muharram|Safar|Rabi|Jumada|Rajab|Shaban|Ramadan|Shawwal|Dhu al/;

/** The lists and what computes them take 36 MB: they are loaded where holidays are named. */
let lists: typeof Holidays | null = null;
function newList(...place: string[]): Holidays {
  lists ??= createRequire(import.meta.url)('date-holidays') as typeof Holidays;
  const list = new lists();
  if (place.length > 0) list.init(...(place as [string]));
  return list;
}

/** Years for which holidays are known, except those before and behind it. */
const EVERY_YEAR = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, i) => FIRST_YEAR + i);

/** By place and year. To find those of a year takes 10 to 20 ms. */
const known = new Map<string, readonly Holiday[]>();

/**
 * Dates of public holidays, and of bank holidays where they are chosen, by the weekday that they resemble; null if
 * the list does not know the place. Years that are not known have none.
 */
export function daysOff({ place, types, like }: ChosenHolidays, years?: Iterable<number>): SpecialDates[] | null {
  const holidays = holidaysOf(place, years);
  if (holidays === null) return null;
  const off = holidays.filter(({ from, type }) => from === null && (types ?? ['public']).includes(type));
  const byDay = Map.groupBy(off, (holiday) => like ?? holiday.like);
  return [...byDay].map(([day, days]) => ({ dates: [...new Set(days.map(({ date }) => date))], like: day }));
}

/** Holidays of a place by their dates, ascending; null if the list does not know the place. */
export function holidaysOf(place: string, years: Iterable<number> = EVERY_YEAR): readonly Holiday[] | null {
  const calendar = placeCalendar(place);
  if (calendar === null) return null;
  const wanted = [...years].filter((year) => year >= FIRST_YEAR && year <= LAST_YEAR).sort((a, b) => a - b);
  return wanted.flatMap((year) => {
    // A holiday of several days may begin in the year before.
    const begun = [year - 1, year].flatMap((each) => begunIn(calendar, each));
    const ofYear = begun.filter(({ date }) => date.startsWith(`${year}-`)).sort((a, b) => (a.date < b.date ? -1 : 1));
    return [...Map.groupBy(ofYear, ({ date, type, from }) => `${date} ${type} ${from}`).values()].map(asOne);
  });
}

/** Holidays of one date as one: a feast of several days may contain another one. */
function asOne(same: readonly Holiday[]): Holiday {
  const name = [...new Set(same.map((each) => each.name))].join(', ');
  return { ...same[0], name, substitute: same.every(({ substitute }) => substitute) };
}

export function isPlace(place: string): boolean {
  return placeCalendar(place) !== null;
}

/** Parts of a country or region by the names that the list has for them. */
export function placeParts(place: string): Readonly<Record<string, string>> {
  const [country, region, part] = place.split('-');
  if (part !== undefined) return {};
  const list = newList();
  const parts = (region === undefined ? list.getStates(country) : list.getRegions(country, region)) ?? {};
  return Object.fromEntries(Object.entries(parts).map(([part, name]) => [`${place}-${part}`, name]));
}

/** The list of a place, with what is corrected in it. */
interface PlaceCalendar {
  readonly place: string;
  /** That of the place, and that of what it lacks: of holidays on one date a list yields one. */
  readonly lists: readonly Holidays[];
  readonly corrections: readonly Correction[];
}

function placeCalendar(place: string): PlaceCalendar | null {
  const [country, region, part] = PLACE.test(place) ? place.split('-') : [];
  if (country === undefined) return null;
  const list = newList();
  if (!Object.hasOwn(list.getCountries(), country)) return null;
  if (region !== undefined && !Object.hasOwn(list.getStates(country) ?? {}, region)) return null;
  if (part !== undefined && !Object.hasOwn(list.getRegions(country, region) ?? {}, part)) return null;
  list.init(country, region, part);
  if (region !== undefined) resumeRules(list, newList(country));
  unsetRules(list, ({ type }) => !isTaken(type));
  const corrections = CORRECTIONS.filter(({ places }) => places.includes(country));
  const adds: Correction['adds'] = Object.assign({}, ...corrections.map((each) => each.adds));
  const added = Object.keys(adds!).length > 0 ? [listOfRules(country, adds!)] : [];
  return { place, lists: [list, ...added], corrections };
}

/** @param rules with the names of their days */
function listOfRules(country: string, rules: Readonly<Record<string, string>>): Holidays {
  const list = newList(country);
  unsetRules(list, () => true);
  for (const [rule, name] of Object.entries(rules)) list.setHoliday(rule, { name: { en: name }, type: 'public' });
  return list;
}

/** Rules of the moon take milliseconds for each year: those that no place uses are not computed. */
function unsetRules(list: Holidays, isUnset: (rule: HolidaysTypes.HolidayRule) => boolean): void {
  const rules = list.getRules() as unknown as HolidaysTypes.HolidayRule[];
  for (const { rule } of rules.filter(isUnset)) list.unsetRule(rule);
}

const isTaken = (type: string | undefined) => (HOLIDAY_TYPES as readonly (string | undefined)[]).includes(type);

/** A rule of a region that ended when the country made it its own: the list takes that of the country away. */
function resumeRules(list: Holidays, country: Holidays): void {
  const active = (rule: HolidaysTypes.HolidayRule) =>
    rule.active?.map(({ from, to }) => ({ from: text(from), to: text(to) })) ?? [];
  for (const rule of list.getRules() as unknown as HolidaysTypes.HolidayRule[]) {
    const ended = active(rule).at(-1)?.to;
    if (!ended) continue;
    const ofCountry = country.getRule(rule.rule) as unknown as HolidaysTypes.HolidayRule | undefined;
    const begun = ofCountry === undefined ? undefined : active(ofCountry)[0]?.from;
    if (ofCountry && begun && begun >= ended)
      list.setRule({ ...ofCountry, active: [...active(rule), ...active(ofCountry)] });
  }
}

const text = (instant: Date | string | undefined) =>
  instant === undefined ? undefined : new Date(instant).toISOString();

/** Holidays that begin in a year, a date each. */
function begunIn({ place, lists, corrections }: PlaceCalendar, year: number): readonly Holiday[] {
  const key = `${place} ${year}`;
  const holidays =
    known.get(key) ??
    lists
      .flatMap((list) => list.getHolidays(year))
      .filter(({ type }) => isTaken(type))
      .flatMap((entry) => datesOf(entry, place).filter(({ date }) => counts(entry.rule, date, corrections)));
  known.set(key, holidays);
  return holidays;
}

/** A date for each day that lies whole within a holiday; the first alone where none does. */
function datesOf(entry: HolidaysTypes.Holiday, place: string): Holiday[] {
  // A day of the moon begins on the evening before; the list names it by the date on which it ends.
  const beginMs = Date.parse(`${entry.date.slice(0, 10)}T${entry.date.slice(11, 19)}Z`);
  const endMs = beginMs + entry.end.getTime() - entry.start.getTime() + CLOCK_CHANGE_MS;
  const holiday = (dayMs: number, from: string | null): Holiday => {
    const date = new Date(dayMs).toISOString().slice(0, 10);
    const { name, type, substitute = false, rule } = entry;
    const like = restDayOf(place, date);
    return { date, name, type: type as HolidayType, like, from, substitute, estimated: LUNAR_MONTH.test(rule) };
  };
  const first = Math.ceil(beginMs / DAY_MS) * DAY_MS;
  const days = Array.from({ length: Math.max(0, Math.floor((endMs - first) / DAY_MS)) }, (_, i) => first + i * DAY_MS);
  return days.length > 0 ? days.map((dayMs) => holiday(dayMs, null)) : [holiday(beginMs, entry.date.slice(11, 16))];
}

/** True if a date of a rule is a holiday after all corrections. */
function counts(rule: string, date: string, corrections: readonly Correction[]): boolean {
  return corrections.every(({ adds = {}, drops = [], from = '', to = '9999' }) => {
    const within = date >= from && date <= to;
    return rule in adds ? within : !within || !(drops === 'all' || drops.includes(rule));
  });
}
