import { offsetAt } from '../../time/local-calendar.ts';
import { ALARM_RATE_MAX, type SeasonAlarm, stepOf, type Verdict } from '../alarm/alarm.ts';
import { PROFILE_FLOATS, type ProfileLayout, type ProfileState } from './profile-layout.ts';
import type { SeasonVerdict } from './season-verdict.ts';
import { dayAlarm, markReported } from './whole-day.ts';

const {
  threshold: THRESHOLD,
  episodes: EPISODES,
  unarmed: UNARMED,
  outsideProfile: OUTSIDE_PROFILE,
} = PROFILE_FLOATS.at;

const HOUR_MS = 3_600_000;
/** Deviations of an hour at which the alarm of the season starts. */
const THRESHOLD_START = 7;
/**
 * Members of a group start lower: they share the target rate, so that of eight the threshold would need weeks to reach
 * where that of a series is within days.
 */
const THRESHOLD_START_MEMBER = 6;
/** The threshold does not fall below it. */
const TYPICAL_MIN = 5;
/** The alarm is armed again after an hour below this share of the threshold. */
const ARMED_SHARE = 0.5;
/**
 * Deviations of whole days at which today is an alarm. A constant: one number a day would move a threshold too slowly,
 * and the deviation learns from the days that were alarms.
 */
const DAY_THRESHOLD = 3;
/** A day that differs by less than this share of what was expected so far is no news, however alike days are. */
const DAY_SHARE_MIN = 0.05;
/** Deviations from what an hour shows, as many as a typical slot may have. */
const NEARLY_USUAL = 4;
/** Grade that 1 row in 1,000 has: the threshold of a quiet profile falls far below it, on rows that are usual. */
const FAINT_MAX = 0.5;
/** A departure from rest is foreseen where the profile leaves less than this share of it. */
const FORESEEN_SHARE = 0.5;

/**
 * The verdict of the forecasts together with that of the seasonal profile. The alarm of the season comes once, and is
 * armed again when values are back for an hour. A value that is what its hour always shows is no alarm; the threshold
 * of the forecasts has learned from it all the same.
 * @param rate accepted false alarm episodes a row
 */
export function judgeSeason(
  state: ProfileState,
  verdict: Verdict,
  season: SeasonVerdict | null,
  rate: number,
): Verdict {
  const { raised, isDisplaced, outsideProfile } = passSeason(state, season, { rate, isMember: false });
  if (season === null) return verdict;
  const day = isDisplaced ? null : raisedDay(state, season);
  // What a usual row shows, such as a job, makes no alarm of a next one that is nearly usual.
  const isBehindUsual = outsideProfile === 1 && season.deviations < NEARLY_USUAL;
  const isFaint = isBehindUsual && !(verdict.grade > Math.max(FAINT_MAX, verdict.threshold));
  // An earlier departure has widened the profile of a series that rests: the deviation does not excuse the next one.
  const isDeparture = season.distance > FORESEEN_SHARE * (verdict.departed ?? Number.POSITIVE_INFINITY);
  const alarm = raised || day !== null || isDeparture || (verdict.alarm && !season.isUsual && !isFaint);
  const elevated = isDeparture ? verdict.elevated : Math.min(verdict.elevated, outsideProfile);
  if (!alarm && !verdict.alarm && outsideProfile === 0 && elevated === verdict.elevated) return verdict;
  return {
    ...verdict,
    alarm,
    elevated,
    outsideProfile,
    season: alarm ? (day ?? seasonAlarm(state.layout, season, raised)) : null,
  };
}

/** The alarm of a whole day, once a day; null for none. */
function raisedDay(state: ProfileState, { day, timestampMs }: SeasonVerdict): SeasonAlarm | null {
  if (day === null || !(day.unusual > DAY_THRESHOLD)) return null;
  if (Math.abs(day.shown - day.expected) < DAY_SHARE_MIN * Math.abs(day.expected)) return null;
  markReported(state);
  return dayAlarm(state, day, timestampMs);
}

/** The verdict of the seasonal profile alone on a row. */
export interface SeasonPassed {
  /** It raises an alarm: once, until values are back. */
  readonly raised: boolean;
  /** Its alarm was raised, and values are not back yet. */
  readonly isDisplaced: boolean;
  /** Rows in a row outside of what their hours usually show, this one included; 0 if that is not known. */
  readonly outsideProfile: number;
}

/**
 * Tracks the verdict on the next row; null if there is none.
 * @param rate accepted false alarm episodes a row; the series of a group share it
 */
export function passSeason(
  { floats, floatStart: f, layout }: ProfileState,
  season: SeasonVerdict | null,
  { rate, isMember }: { readonly rate: number; readonly isMember: boolean },
): SeasonPassed {
  const outsideProfile = season === null || season.isUsual ? 0 : floats[f + OUTSIDE_PROFILE] + 1;
  floats[f + OUTSIDE_PROFILE] = outsideProfile;
  if (season === null) return { raised: false, isDisplaced: floats[f + UNARMED] > 0, outsideProfile };
  const target = Math.min(rate, ALARM_RATE_MAX);
  const start = isMember ? THRESHOLD_START_MEMBER : THRESHOLD_START;
  const threshold = start * Math.exp(floats[f + THRESHOLD]);
  const { unusual } = season;
  let raised = false;
  if (unusual > threshold) {
    raised = floats[f + UNARMED] === 0;
    if (raised) floats[f + THRESHOLD] += stepOf(++floats[f + EPISODES]);
  }
  if (unusual >= ARMED_SHARE * threshold && (raised || floats[f + UNARMED] > 0)) {
    floats[f + UNARMED] = Math.max(1, Math.ceil(HOUR_MS / layout.stepMs));
  } else if (floats[f + UNARMED] > 0) floats[f + UNARMED]--;
  if (threshold > TYPICAL_MIN) floats[f + THRESHOLD] -= stepOf(floats[f + EPISODES]) * target;
  return { raised, isDisplaced: floats[f + UNARMED] > 0, outsideProfile };
}

/** The season of an alarm, for its event. */
export function seasonAlarm(
  { calendar }: ProfileLayout,
  { expected, deviation, recentMean, timestampMs }: SeasonVerdict,
  raised: boolean,
): SeasonAlarm {
  return { expected, deviation, recentMean, raised, localMs: timestampMs + offsetAt(calendar, timestampMs) };
}
