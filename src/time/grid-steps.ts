import { type Frequency, gridPosition, gridTime } from './frequency.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
/** 1970-01-04. */
const SUNDAY_MS = 3 * DAY_MS;

/**
 * The step of a frequency that an event time lies in, the same for all series: multiples of a fixed step since 1970,
 * weeks that end on the day of their anchor (`W` on Sunday), calendar months and groups of them, weekdays. All in UTC.
 */
export function gridStepAt(freq: Frequency, timestampMs: number): { readonly startMs: number; readonly endMs: number } {
  const originMs = anchorMs(freq);
  if (freq.kind === 'fixed') {
    const startMs = originMs + Math.floor((timestampMs - originMs) / freq.stepMs) * freq.stepMs;
    return { startMs, endMs: startMs + freq.stepMs };
  }
  const position = gridPosition(freq, originMs, timestampMs);
  return { startMs: gridTime(freq, originMs, position), endMs: gridTime(freq, originMs, position + 1) };
}

/** The start of some step. Quarters and years end, or start (`QS`, `YS`), in the month of their anchor. */
function anchorMs(freq: Frequency): number {
  if (freq.kind === 'fixed' && freq.stepMs % WEEK_MS !== 0) return 0;
  const [unit, anchor = ''] = freq.alias.split('-');
  switch (freq.kind) {
    case 'fixed':
      return SUNDAY_MS + (Math.max(0, DAYS.indexOf(anchor)) + 1) * DAY_MS;
    case 'calendar': {
      const month = MONTHS.indexOf(anchor);
      return month < 0 ? 0 : Date.UTC(1970, /S$/i.test(unit) ? month : month + 1);
    }
    case 'weekday':
      // 1970-01-05 is a Monday.
      return 4 * DAY_MS;
  }
}
