import type { Weekday } from '../calendar/local-times.ts';

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

/** Countries whose governments move days off each year, mostly for a Saturday that is worked. */
const MOVING = new Set('AM AR AZ BY CN HU ID KZ LV RU TW UZ VN'.split(' '));

/** The days off of a place that the list lacks, with the remedy; null where its government names none year by year. */
export function missingDays(place: string): string | null {
  const country = place.slice(0, 2);
  if (!MOVING.has(country)) return null;
  return (
    `The government of ${country} moves days off each year: those days, and Saturdays that are worked for them, are ` +
    'unknown here. Name them in special_days: a day off is `like: sun`, a working Saturday `like: fri`'
  );
}
