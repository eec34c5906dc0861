import type { ProfileSettings } from '../../../detection/calibration/settings.ts';
import { profileLayout } from '../../../detection/profile/profile-layout.ts';
import { type Frequency, meanStepMs } from '../../../time/frequency.ts';
import { type ChosenHolidays, daysOff, isPlace, PLACE_EXPECTED } from '../../../time/holidays/holiday-list.ts';
import { UTC_CALENDAR, zoneOffsets } from '../../../time/local-calendar.ts';
import { isTimeZone } from '../../../time/local-times.ts';
import { FIRST_YEAR, isDate, LAST_YEAR, repeatedDates, specialDaysOf } from '../../../time/special-days.ts';
import { type FieldProblem, fieldProblem } from '../../wire/problem.ts';
import type { OnlineDetectionBody } from '../../wire/schema/online-detection-schema.ts';
import { parseTimestamp } from '../series/alignment.ts';

/** The long memory of a request. */
interface RequestedProfile {
  readonly settings: ProfileSettings;
  /** Event times of the first values. */
  readonly startsMs: readonly number[];
}

const PARAMETERS = ['body', 'model_parameters'] as const;
const DAY_MS = 86_400_000;

/** null where the long memory does not judge: without alarms, times (one for a group), or hours. Adds problems. */
export function requestedProfile(
  { series, model_parameters: parameters, threshold_method: method }: OnlineDetectionBody,
  grid: Frequency | null,
  problems: FieldProblem[],
): RequestedProfile | null {
  const { start_datetime: starts, sizes } = series;
  const { timezone, special_days: specialDays, holidays } = parameters ?? {};
  if (typeof timezone === 'string' && !isTimeZone(timezone)) {
    problems.push(fieldProblem([...PARAMETERS, 'timezone'], 'must be a time zone such as Europe/Berlin or UTC'));
    return null;
  }
  for (const [i, { dates }] of (specialDays ?? []).entries()) {
    const wrong = dates.findIndex((date) => !isDate(date));
    if (wrong < 0) continue;
    const text = 'must be a date such as 2026-12-24, or 12-24 for every year';
    problems.push(fieldProblem([...PARAMETERS, 'special_days', i, 'dates', wrong], text));
  }
  for (const { date, entry, place, earlier } of repeatedDates(specialDays ?? [])) {
    const text = `${date} must be a date of one entry, and is in special_days.${earlier}, too`;
    problems.push(fieldProblem([...PARAMETERS, 'special_days', entry, 'dates', place], text));
  }
  const chosen = (holidays ?? []).map((each): ChosenHolidays => (typeof each === 'string' ? { place: each } : each));
  const unknown = chosen.findIndex(({ place }) => !isPlace(place));
  if (unknown >= 0) problems.push(fieldProblem([...PARAMETERS, 'holidays', unknown], `must be ${PLACE_EXPECTED}`));
  const judges = (parameters?.grade || parameters?.events) && parameters.profile !== 'off';
  if (!judges || !starts || grid === null || problems.length > 0) return null;
  const startsMs = starts.map(parseTimestamp);
  const unread = startsMs.indexOf(null);
  if (unread >= 0) {
    const text = 'a start must be an ISO 8601 date, or date and time, such as 2026-01-31T00:00:00';
    problems.push(fieldProblem(['body', 'series', 'start_datetime', unread], text));
    return null;
  }
  const stepMs = meanStepMs(grid);
  const times = startsMs.map(Number);
  // Members of a group share their time steps.
  if (method === 'multivariate' && times.some((ms) => ms !== times[0])) return null;
  const isUtc = (!timezone || timezone === 'UTC') && !specialDays && !holidays;
  const years = yearsOf(times, sizes, stepMs);
  const holidayDates = chosen.flatMap((each) => daysOff(each, years) ?? []);
  const calendar = isUtc
    ? UTC_CALENDAR
    : { offsets: zoneOffsets(timezone ?? 'UTC'), specialDays: specialDaysOf(holidayDates, specialDays ?? []) };
  if (profileLayout(calendar, stepMs) === null) return null;
  return { settings: { calendar, stepMs }, startsMs: times };
}

/** The years that each series lies in, by any clock. */
function yearsOf(startsMs: readonly number[], sizes: readonly number[], stepMs: number): Set<number> {
  const years = new Set<number>();
  for (const [i, startMs] of startsMs.entries()) {
    const last = Math.min(yearAt(startMs + sizes[i] * stepMs + DAY_MS), LAST_YEAR);
    for (let year = Math.max(yearAt(startMs - DAY_MS), FIRST_YEAR); year <= last; year++) years.add(year);
  }
  return years;
}

function yearAt(ms: number): number {
  return new Date(ms).getUTCFullYear();
}
