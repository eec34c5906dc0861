import type { ProfileSettings } from '../../../detection/calibration/settings.ts';
import { profileLayout } from '../../../detection/profile/profile-layout.ts';
import { meanStepMs } from '../../../time/frequency.ts';
import { type ChosenHolidays, daysOff, isPlace, PLACE_EXPECTED } from '../../../time/holidays/holiday-list.ts';
import { UTC_CALENDAR, zoneOffsets } from '../../../time/local-calendar.ts';
import { isTimeZone } from '../../../time/local-times.ts';
import { FIRST_YEAR, isDate, LAST_YEAR, repeatedDates, specialDaysOf } from '../../../time/special-days.ts';
import type { OnlineDetectionBody } from '../../wire/schema/tasks/online-detection-schema.ts';
import type { RequestReader } from '../series/request-reader.ts';

type ProfileRequest = Pick<OnlineDetectionBody, 'model_parameters' | 'threshold_method'> & {
  readonly series: Pick<OnlineDetectionBody['series'], 'sizes'>;
};

interface RequestedProfile {
  readonly settings: ProfileSettings;
  /** Event times of the first values. */
  readonly startsMs: readonly number[];
}

const PARAMETERS = ['model_parameters'] as const;
const DAY_MS = 86_400_000;

/**
 * The profile, whose fields are checked; null if it does not apply: without alarms, times (one for a group), or hours.
 */
export function requestedProfile(
  reader: Pick<RequestReader, 'problems' | 'startsMs' | 'frequency'>,
  { series: { sizes }, model_parameters: parameters, threshold_method: method }: ProfileRequest,
): RequestedProfile | null {
  const { problems } = reader;
  const { grid } = reader.frequency;
  const { timezone, special_days: specialDays, holidays } = parameters ?? {};
  if (typeof timezone === 'string' && !isTimeZone(timezone)) {
    problems.add([...PARAMETERS, 'timezone'], 'must be a time zone such as Europe/Berlin or UTC');
    return null;
  }
  for (const [i, { dates }] of (specialDays ?? []).entries()) {
    const wrong = dates.findIndex((date) => !isDate(date));
    if (wrong < 0) continue;
    const text = 'must be a date such as 2026-12-24, or 12-24 for every year';
    problems.add([...PARAMETERS, 'special_days', i, 'dates', wrong], text);
  }
  for (const { date, entry, place, earlier } of repeatedDates(specialDays ?? [])) {
    const text = `${date} must be a date of one entry, and is in special_days.${earlier}, too`;
    problems.add([...PARAMETERS, 'special_days', entry, 'dates', place], text);
  }
  const chosen = (holidays ?? []).map((each): ChosenHolidays => (typeof each === 'string' ? { place: each } : each));
  const unknown = chosen.findIndex(({ place }) => !isPlace(place));
  if (unknown >= 0) problems.add([...PARAMETERS, 'holidays', unknown], `must be ${PLACE_EXPECTED}`);
  const applies = (parameters?.grade || parameters?.events) && parameters.profile !== 'off';
  const times = applies && grid !== null ? reader.startsMs : null;
  if (times === null || grid === null || !problems.none) return null;
  const stepMs = meanStepMs(grid);
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

/** The years that each series is in, by any clock. */
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
