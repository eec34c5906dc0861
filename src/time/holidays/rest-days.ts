import type { Weekday } from '../local-times.ts';

/** The weekday of rest from a date on; before the first one Friday. */
type RestDays = Weekday | { readonly sundayFrom: string };

/** Countries, and regions of them, that rest on another day than Sunday, by their laws. The list does not know it. */
const REST_DAYS: Readonly<Record<string, RestDays>> = {
  // Federal government, from 2022: Friday afternoon, Saturday and Sunday.
  AE: { sundayFrom: '2022-01-01' },
  BD: 'fri',
  BH: 'fri',
  DJ: 'fri',
  DZ: 'fri',
  EG: 'fri',
  IL: 'sat',
  IR: 'fri',
  LY: 'fri',
  // Law 2014-032.
  MR: { sundayFrom: '2014-10-01' },
  // Johor, Kedah, Kelantan and Terengganu.
  'MY-01': { sundayFrom: '2025-01-01' },
  'MY-02': 'fri',
  'MY-03': 'fri',
  'MY-11': 'fri',
  SA: 'fri',
  SD: 'fri',
  SO: 'fri',
};

/** The weekday that a day off of a place resembles. */
export function restDayOf(place: string, date: string): Weekday {
  const [country, region] = place.split('-');
  const rest = REST_DAYS[`${country}-${region}`] ?? REST_DAYS[country] ?? 'sun';
  if (typeof rest === 'string') return rest;
  return date >= rest.sundayFrom ? 'sun' : 'fri';
}

/** Countries whose governments name days off year by year, for a Saturday that is worked or by the moon. */
const NAMED_YEARLY = new Set('AM AR AZ BD BY CN EG HU ID IN KZ LK LV MY PH RU TH TW UZ VN'.split(' '));

/** Names the days off of a place that are not known, with the remedy; null if the list has all of them. */
export function missingDays(place: string, year: number): string | null {
  const country = place.slice(0, 2);
  if (!NAMED_YEARLY.has(country)) return null;
  const rest = restDayOf(place, `${year}-01-01`);
  return (
    `The government of ${country} names days off year by year: those, and Saturdays that are worked for them, are ` +
    `unknown here. Name them in special_days: a day off is \`like: ${rest}\`, a working Saturday \`like: fri\``
  );
}
