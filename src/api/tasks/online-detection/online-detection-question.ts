import { alarmRateOf, parseFalseAlarms } from '../../../detection/alarm/false-alarms.ts';
import type { DetectionSettings, ProfileSettings } from '../../../detection/calibration/settings.ts';
import { profileLayout } from '../../../detection/profile/profile-layout.ts';
import { CONTEXT_MIN } from '../../../forecasting/context-length.ts';
import { type Frequency, meanStepMs } from '../../../time/frequency.ts';
import { type ChosenHolidays, daysOff, isPlace, PLACE_EXPECTED } from '../../../time/holidays/holiday-list.ts';
import { UTC_CALENDAR, zoneOffsets } from '../../../time/local-calendar.ts';
import { FIRST_YEAR, isDate, isTimeZone, LAST_YEAR, repeatedDates, specialDaysOf } from '../../../time/local-times.ts';
import { OUTPUTS_OF_DETECTION, tokensOf } from '../../accounts/token-count.ts';
import type { ServedModels } from '../../models/served-models.ts';
import type { OnlineDetectionBody } from '../../wire/schema/tasks/online-detection-schema.ts';
import { DEFAULT_LEVEL, type WireLevel } from '../../wire/wire-answer.ts';
import { checkLengths, checkTuningSteps, type ModelLoad } from '../series/request-limits.ts';
import { horizonWarning, RequestReader, type SeriesQuestion } from '../series/request-reader.ts';

export interface OnlineDetectionQuestion extends SeriesQuestion {
  readonly settings: DetectionSettings;
  readonly level: WireLevel;
  readonly grade: boolean;
  readonly events: boolean;
  /** Mean step of the series; null if no events are requested, or the frequency has no grid. */
  readonly eventStepMs: number | null;
  /** Event times of the first values; null if the seasonal profile does not apply. */
  readonly startsMs: readonly number[] | null;
  readonly warning: string | null;
}

/** Throws an HttpProblem for an invalid request. */
export function readOnlineDetection(body: OnlineDetectionBody, models: ServedModels): OnlineDetectionQuestion {
  const { series, h, detection_size: size, model_parameters: parameters } = body;
  const reader = new RequestReader(body, models);
  const { grid } = reader.frequency;
  checkDetection(reader, body);
  const profile = requestedProfile(reader, body);
  const read = reader.question(loadOf(body));
  const events = parameters?.events === true;
  return {
    ...read,
    tokens: tokensOf(body, { predicted: series.sizes.length * size, outputs: OUTPUTS_OF_DETECTION }),
    settings: { ...settingsOf(body, grid, read.model.forecaster.limits.context), profile: profile?.settings ?? null },
    level: body.level ?? DEFAULT_LEVEL,
    grade: parameters?.grade === true,
    events,
    eventStepMs: events && grid !== null ? meanStepMs(grid) : null,
    startsMs: profile?.startsMs ?? null,
    warning: horizonWarning(h, read),
  };
}

function checkDetection({ problems, frequency }: RequestReader, body: OnlineDetectionBody): void {
  const { series, h, detection_size: size, threshold_method: method } = body;
  const { sizes } = series;
  checkTuningSteps(problems, body);
  checkLengths(problems, sizes, Math.max(size, CONTEXT_MIN + h), `for h ${h} and detection_size ${size}`);
  if (method === 'multivariate' && sizes.some((length) => length !== sizes[0])) {
    problems.add(['series', 'sizes'], 'series must be equally long for a multivariate threshold');
  }
  const { grade, events } = body.model_parameters ?? {};
  if ((grade || events) && frequency.grid === null) {
    const field = grade ? 'grade' : 'events';
    const text = `must be a frequency whose steps have a length, such as h, 15min or D, for model_parameters.${field}`;
    problems.add(['freq'], text);
  }
}

function loadOf({ series: { sizes }, h, step_size: step = h }: OnlineDetectionBody): ModelLoad {
  const cutoffs = sizes.map((length) => Math.max(0, Math.ceil((length - h - CONTEXT_MIN + 1) / (step ?? h))));
  return { forecasts: cutoffs.reduce((sum, count) => sum + count, 0), h };
}

function settingsOf(body: OnlineDetectionBody, grid: Frequency | null, context: number): DetectionSettings {
  const { series, h, detection_size, step_size, level, threshold_method, model_parameters } = body;
  const size = model_parameters?.calibration_size;
  return {
    h,
    detectionSize: detection_size,
    stepSize: step_size ?? h,
    level: (level ?? DEFAULT_LEVEL).value,
    thresholdMethod: threshold_method ?? 'univariate',
    calibration: model_parameters?.calibration ?? 'plain',
    alarmRate: alarmRateFor(body, grid),
    // A ring of more residuals than there are values would be memory alone.
    calibrationSize:
      typeof size === 'number'
        ? Math.min(
            size,
            series.sizes.reduce((a, b) => Math.max(a, b), 1),
          )
        : 'all',
    context,
  };
}

/** null if neither grade nor events are requested, or the frequency has no grid. */
function alarmRateFor({ model_parameters, level }: OnlineDetectionBody, grid: Frequency | null): number | null {
  if (!(model_parameters?.grade || model_parameters?.events) || grid === null) return null;
  const falseAlarms = parseFalseAlarms(model_parameters.false_alarms ?? '');
  return alarmRateOf({ falseAlarms, level: level?.value }, grid);
}

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
