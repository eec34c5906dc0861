import { createRequire } from 'node:module';
import type Holidays from 'date-holidays';
import { FIRST_YEAR, LAST_YEAR } from './calendar/special-days.ts';

/** A country of ISO 3166-1, and a region of it as the list names it: `DE-BY`, `US-CA`, `ES-MD`. */
const PLACE = /^([A-Z]{2})(?:-([A-Za-z0-9]{1,5}))?$/;

/** The list and what computes it take 36 MB: they are loaded where holidays are named. */
let list: typeof Holidays | null = null;
function holidayList(): typeof Holidays {
  list ??= createRequire(import.meta.url)('date-holidays') as typeof Holidays;
  return list;
}

/** Years for which days are resolved, both included. */
interface Years {
  readonly first: number;
  readonly last: number;
}

/**
 * Public holidays of a place by their dates, substitute days among them; null where the list does not know it. Half a
 * century of them takes up to a second.
 */
export function publicHolidays(
  place: string,
  { first, last }: Years = { first: FIRST_YEAR, last: LAST_YEAR },
): readonly string[] | null {
  const [, country, region] = PLACE.exec(place) ?? [];
  if (country === undefined) return null;
  const known = new (holidayList())();
  if (!(country in known.getCountries())) return null;
  if (region === undefined) known.init(country);
  else if (!(region in (known.getStates(country) ?? {}))) return null;
  else known.init(country, region);
  const dates = new Set<string>();
  for (let year = Math.max(first, FIRST_YEAR); year <= Math.min(last, LAST_YEAR); year++) {
    for (const { type, date } of known.getHolidays(year)) if (type === 'public') dates.add(date.slice(0, 10));
  }
  return [...dates];
}
