import { offsetAt, weekdayOf } from '../../time/local-calendar.ts';
import { WEEKDAYS_OF_ISO, type Weekday } from '../../time/local-times.ts';
import { rateOf, type SeriesColumn, type SeriesColumns } from './series-columns.ts';
import { isCounter } from './series-profile.ts';

interface ListedDay {
  readonly date: string;
  readonly name: string;
  /** The weekday that it should resemble. */
  readonly like: Weekday;
}

/** A day on which most series contradict the list. */
export interface ContradictedDay {
  readonly date: string;
  /** The day off that is worked; null for a day that is not listed. */
  readonly name: string | null;
  readonly like: Weekday;
  readonly series: number;
  /** Series that differ between working days and days of rest. */
  readonly of: number;
}

const DAY_MS = 86_400_000;
/** Days of each kind that a level is known from. */
const DAYS_MIN = 3;
/** Levels of working days and of rest are this many of their mean deviations apart, or no day is judged. */
const DEVIATIONS_MIN = 4;
/** Share of the way from rest to work: below the first a day is like rest, above the second like work. */
const [REST_MAX, WORK_MIN] = [0.25, 0.75];

/** Compares the days of all series with the days off of a place. @param offsets of the clock of the place */
export function contradictedDays(
  columns: SeriesColumns,
  {
    offsets,
    listed,
  }: { readonly offsets: Parameters<typeof offsetAt>[0]['offsets']; readonly listed: readonly ListedDay[] },
): readonly ContradictedDay[] {
  const daysOff = new Map(listed.map((day) => [Date.parse(day.date) / DAY_MS, day]));
  const found = new Map<number, Map<Weekday, number>>();
  const judged = new Map<number, number>();
  for (const column of columns.all()) {
    const means = dailyMeans(isCounter(column) ? rateOf(column) : column, offsets);
    for (const [day, like] of judgeDays(means, daysOff)) {
      judged.set(day, (judged.get(day) ?? 0) + 1);
      if (like === null) continue;
      const votes = found.get(day) ?? new Map<Weekday, number>();
      found.set(day, votes.set(like, (votes.get(like) ?? 0) + 1));
    }
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .flatMap(([day, votes]) => {
      const [like, series] = [...votes].reduce((most, each) => (each[1] > most[1] ? each : most));
      const of = judged.get(day)!;
      const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
      return 2 * series <= of ? [] : [{ date, name: daysOff.get(day)?.name ?? null, like, series, of }];
    });
}

/** Means of whole local days, by days since 1970-01-01. */
function dailyMeans(
  { times, values }: SeriesColumn,
  offsets: Parameters<typeof offsetAt>[0]['offsets'],
): Map<number, number> {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const [i, ms] of times.entries()) {
    const day = Math.floor((ms + offsetAt({ offsets }, ms)) / DAY_MS);
    const { sum, count } = sums.get(day) ?? { sum: 0, count: 0 };
    sums.set(day, { sum: sum + values[i], count: count + 1 });
  }
  const usual = median([...sums.values()].map(({ count }) => count));
  const whole = [...sums].filter(([, { count }]) => 2 * count > usual);
  return new Map(whole.map(([day, { sum, count }]) => [day, sum / count]));
}

/** The weekday that each day resembles where that contradicts the list; null if it does not. */
function* judgeDays(
  means: ReadonlyMap<number, number>,
  daysOff: ReadonlyMap<number, ListedDay>,
): Generator<[number, Weekday | null]> {
  const byWeekday = Array.from({ length: 7 }, (_, weekday) =>
    [...means].flatMap(([day, mean]) => (weekdayOf(day) === weekday && !daysOff.has(day) ? mean : [])),
  );
  const rest = WEEKDAYS_OF_ISO.indexOf([...daysOff.values()][0]?.like ?? 'sun');
  const levels = byWeekday.map(median);
  // Working days are those that are farther from the day of rest than half of what the farthest is.
  const farthest = Math.max(...levels.map((level) => Math.abs(level - levels[rest])));
  const works = levels.map((level) => Math.abs(level - levels[rest]) > farthest / 2);
  const workLevel = median(levels.filter((_, weekday) => works[weekday]));
  const deviation = (weekday: number) => median(byWeekday[weekday].map((mean) => Math.abs(mean - levels[weekday])));
  if (byWeekday.some((days) => days.length < DAYS_MIN)) return;
  if (farthest < DEVIATIONS_MIN * Math.max(...byWeekday.map((_, weekday) => deviation(weekday)))) return;
  for (const [day, mean] of means) {
    const weekday = weekdayOf(day);
    const share = (mean - levels[rest]) / ((works[weekday] ? levels[weekday] : workLevel) - levels[rest]);
    const isOff = daysOff.has(day) || !works[weekday];
    if (isOff && share > WORK_MIN) yield [day, works[weekday] ? WEEKDAYS_OF_ISO[weekday] : lastWorkday(works, rest)];
    else if (!isOff && share < REST_MAX) yield [day, WEEKDAYS_OF_ISO[rest]];
    else yield [day, null];
  }
}

/** The working day before the days of rest: Friday where these are Saturday and Sunday. */
function lastWorkday(works: readonly boolean[], rest: number): Weekday {
  let weekday = rest;
  while (!works[weekday]) weekday = (weekday + 6) % 7;
  return WEEKDAYS_OF_ISO[weekday];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
