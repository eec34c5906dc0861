/** Times that come again, or come once, on the clock of a place. */

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

export const WEEKDAYS_OF_ISO = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS_OF_ISO)[number];

/** A set of event times. Plain data is in `text`, so that two of them can be compared. */
export interface LocalTimes {
  includes(timestampMs: number): boolean;
  readonly text: string;
}

/** From one instant to another, the end excluded. */
export function timesBetween(startMs: number, endMs: number): LocalTimes {
  const text = `${new Date(startMs).toISOString()} to ${new Date(endMs).toISOString()}`;
  return { text, includes: (timestampMs) => timestampMs >= startMs && timestampMs < endMs };
}

export interface DailyTimes {
  /** Days on which it begins; empty for every day. */
  readonly days: readonly Weekday[];
  /** Dates on which it begins, as `2026-12-24` or `12-24`; empty for every date. */
  readonly dates: readonly string[];
  /** Minutes since midnight; where the end is not after the start it lies on the next day. */
  readonly from: number;
  readonly to: number;
  /** As in the time zone database: `Europe/Berlin`. */
  readonly timeZone: string;
}

/**
 * The same times of the clock on days of a calendar. Where clocks are set back, an hour that comes twice counts twice;
 * where they are set forward, an hour that does not come does not count.
 */
export function dailyTimes({ days, dates, from, to, timeZone }: DailyTimes): LocalTimes {
  const clock = localClock(timeZone);
  const beginsOn = ({ weekday, date }: LocalDay) =>
    (days.length === 0 || days.includes(weekday)) &&
    (dates.length === 0 || dates.includes(date) || dates.includes(date.slice(5)));
  const text = [days.join(' '), dates.join(' '), `${from}-${to} min`, timeZone].filter((part) => part !== '').join(' ');
  return {
    text,
    includes(timestampMs) {
      const { minute, ...today } = clock(timestampMs);
      if (to > from) return minute >= from && minute < to && beginsOn(today);
      return (minute >= from && beginsOn(today)) || (minute < to && beginsOn(dayBefore(today)));
    },
  };
}

interface LocalDay {
  readonly weekday: Weekday;
  /** As `2026-12-24`. */
  readonly date: string;
}

interface LocalMinute extends LocalDay {
  readonly minute: number;
}

/** What the clock of a place shows. Throws a RangeError for a place that the time zone database does not know. */
function localClock(timeZone: string): (timestampMs: number) => LocalMinute {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  return (timestampMs) => {
    const parts = new Map(format.formatToParts(timestampMs).map(({ type, value }) => [type, value]));
    const date = `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
    const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
    return { date, weekday: weekdayOf(date), minute };
  };
}

function weekdayOf(date: string): Weekday {
  return WEEKDAYS_OF_ISO[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7];
}

function dayBefore({ date }: LocalDay): LocalDay {
  const before = new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MINUTES * MINUTE_MS).toISOString().slice(0, 10);
  return { date: before, weekday: weekdayOf(before) };
}

/** Whether the time zone database knows a place. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
