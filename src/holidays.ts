import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import { FIRST_YEAR, LAST_YEAR } from './calendar/special-days.ts';

/** A country of ISO 3166-1, and a region of it as the list names it: `DE-BY`, `US-CA`, `ES-MD`. */
const PLACE = /^([A-Z]{2})(?:-([A-Za-z0-9]{1,5}))?$/;

/** The lists and what computes them take 36 MB: they are loaded where holidays are named. */
let lists: typeof Holidays | null = null;
function holidayList(): typeof Holidays {
  lists ??= createRequire(import.meta.url)('date-holidays') as typeof Holidays;
  return lists;
}

/** Years for which holidays are known, but for those before and behind it. */
const EVERY_YEAR = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, i) => FIRST_YEAR + i);

/** Dates by place and year. To find those of a year takes 10 to 20 ms. */
const known = new Map<string, readonly string[]>();

/**
 * Public holidays of a place by their dates, ascending, substitute days among them; null where the list does not know
 * the place. Years that are not known have none.
 */
export function publicHolidays(place: string, years: Iterable<number> = EVERY_YEAR): readonly string[] | null {
  const list = listOf(place);
  if (list === null) return null;
  const wanted = [...years].filter((year) => year >= FIRST_YEAR && year <= LAST_YEAR).sort((a, b) => a - b);
  return wanted.flatMap((year) => {
    const key = `${place} ${year}`;
    const dates = known.get(key) ?? datesOf(list, year);
    known.set(key, dates);
    return dates;
  });
}

function listOf(place: string): Holidays | null {
  const [, country, region] = PLACE.exec(place) ?? [];
  if (country === undefined) return null;
  const list = new (holidayList())();
  if (!(country in list.getCountries())) return null;
  if (region === undefined) list.init(country);
  else if (region in (list.getStates(country) ?? {})) list.init(country, region);
  else return null;
  return list;
}

function datesOf(list: Holidays, year: number): readonly string[] {
  const holidays = list.getHolidays(year).filter(({ type }) => type === 'public');
  return [...new Set(holidays.map(({ date }) => date.slice(0, 10)))];
}
