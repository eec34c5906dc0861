import { layout } from '../calibration/layout.ts';
import { inSinglePrecision } from '../calibration/precision.ts';

/**
 * Severity and alarm of one series or group: one recurrence over its rows. A fresh state is all 0.
 */
export const ALARM_STATE = layout({
  /** The last unusualness, fading. */
  held: 1,
  /** Forgetting mean square of clipped unusualness: how much has been going on. */
  energy: 1,
  /** Distance of the logarithm of the threshold from where it starts. */
  threshold: 1,
  episodes: 1,
  /** Rows since the threshold was last exceeded, and since that last raised it, plus 1; 0 for never. */
  sinceExceeded: 1,
  sinceRaised: 1,
  /** Unusualness of the row before, and of the one before that; 0 where they have none. */
  previous: 1,
  beforePrevious: 1,
  /** Rows in a row so far whose grade is a half or more. */
  elevated: 1,
});
const {
  held: HELD,
  energy: ENERGY,
  threshold: THRESHOLD,
  episodes: EPISODES,
  sinceExceeded: SINCE_EXCEEDED,
  sinceRaised: SINCE_RAISED,
  previous: PREVIOUS,
  beforePrevious: BEFORE_PREVIOUS,
  elevated: ELEVATED,
} = ALARM_STATE.at;

/** At this unusualness the grade is a half; 1 row in 1,000 of most series is above it. */
const GRADE_HALF = 14;
const HELD_SHARE = 0.9;
const ENERGY_RATE = 0.02;
const ENERGY_MAX = 40;
const ENERGY_WEIGHT = 2;
/**
 * The threshold on S that keeps a rate of r false episodes a row in most series is 14 (0.001 / r)^0.36. Beyond 1 row in
 * 1,000 the tail is longer, that of groups most of all; a time step of a group is as unusual as its most unusual
 * members.
 */
const TAIL_RATE = 0.001;
const TAIL_EXPONENT = 0.36;
const RARE_EXPONENT = 0.38;
const RARE_EXPONENT_GROUP = 0.55;
/** The threshold on the statistic of the alarm is as much higher than that on S; rows of a group have a longer tail. */
const TOGETHER_START = 1.4;
const TOGETHER_START_GROUP = 2;
/** Rows before count up to so many times the row itself. */
const BEFORE_SHARE_MAX = 2;
/** Half of what a row shows whose terms all equal their own scales. */
export const TYPICAL = 3;
/** Unusualness of typical rows together. A threshold does not fall below it. */
const TYPICAL_TOGETHER = 2 * TYPICAL;
const STEP_MIN = 0.05;
const STEP_FIRST = 0.5;
/** An alarm at the threshold raises it by so many steps. */
const RISE_STEPS = 1.4;
/**
 * An alarm exceeds the threshold by this share of its step. The threshold falls until a row exceeds it, so that a row
 * just above it shows that it is too low.
 */
const MARGIN_SHARE = 0.5;
/** The threshold falls faster by this factor, since rows that continue an episode raise it, too. */
const FALL = 1.1;
/** A row that continues an episode raises the threshold by this share of what the first row does. */
const CONTINUED_SHARE = 1 / 3;
/** The target rate is never higher, regardless of the frequency of the series. */
export const ALARM_RATE_MAX = 0.01;
/**
 * Episodes for each gap. An episode ends with a gap without alarms, so that alarms at any rate make at most 1 / e for
 * each gap: a higher target lowers the threshold for ever, and the alarm never ends.
 */
const EPISODES_PER_GAP_MAX = 0.25;

/** The unusualness of one row. */
export interface Unusualness {
  /** For the grade and the alarm: sharp, only while the newest value itself is odd. */
  readonly sharp: number;
  /** For the severity: as long as the shape is odd. */
  readonly wide: number;
  /** The part of `sharp` that no season explains; left out: all of it. */
  readonly unexplained?: number;
  /** Unusualness of any step of a series that rarely makes one, which alone is no alarm. Omitted: 0. */
  readonly rareStep?: number;
  /** Magnitude of the residual or of the change since the last value, whichever is larger; left out of a group. */
  readonly moved?: number;
}

/** The verdict on one row. */
export interface Verdict {
  /**
   * 0..1, comparable across series; a half where 1 row in 1,000 of most series is. NaN without a value and a forecast.
   */
  readonly grade: number;
  /** >= 0, unbounded: how much is going on. NaN without a value and a forecast. */
  readonly severity: number;
  /** The threshold that keeps the target rate is exceeded. */
  readonly alarm: boolean;
  /** The same threshold as a grade: that of a row that exceeds it alone. */
  readonly threshold: number;
  /** Expectation of the seasonal profile, if the row is an alarm and the profile is mature. */
  readonly season: SeasonAlarm | null;
  /** Rows in a row of a grade of a half or more, this one included; 0 where its own is lower. */
  readonly elevated: number;
  /** Rows in a row outside of what their hours usually show, this one included; 0 if that is not known. */
  readonly outsideProfile: number;
  /** Distance from the value where the series rested, at the row that raises the alarm of its departure. */
  readonly departed?: number;
}

/** Usual values of a time of the week, or of a whole day so far on average. */
export interface SeasonAlarm {
  readonly expected: number;
  /** Deviation of single values from it at this hour, or of days. */
  readonly deviation: number;
  /** Recent mean of values, or of the day so far. */
  readonly recentMean: number;
  /** The seasonal profile raised the alarm; otherwise the forecasts did. */
  readonly raised: boolean;
  /** The time by the clock of the series, as if that were UTC; the time up to which the day is reported. */
  readonly localMs: number;
  /** The day of an alarm of a whole day; left out otherwise. */
  readonly day?: AlarmedDay;
}

/** Place of a day around a row. */
export interface AlarmedDay {
  /** Its length up to the row, and from then on. */
  readonly agoMs: number;
  readonly leftMs: number;
}

export const NO_VERDICT: Verdict = {
  grade: Number.NaN,
  severity: Number.NaN,
  alarm: false,
  threshold: Number.NaN,
  season: null,
  elevated: 0,
  outsideProfile: 0,
};

/** The target rate of false alarms. */
export interface AlarmTarget {
  /** Accepted false alarm episodes a row, above 0. */
  readonly rate: number;
  /** Rows without an alarm that end an episode: the detection size. */
  readonly gap: number;
  /** Rows of a group are more unusual than those of a series, so its threshold starts higher. */
  readonly isGroup: boolean;
}

/**
 * Judges the next row; null if it has no value or no forecast.
 *
 *   grade      S / (S + 14)
 *   severity   max(S', 0.9 x what was held) + 2 sqrt(energy)
 *   alarm      G above T exp(step / 2). The logarithm of T rises by 1.4 (T / G)^1.5 steps with every episode above T,
 *              and falls with every row by 1.1 steps times the rate of such episodes if alarms come at `rate`. No alarm
 *              if the unexplained share of G is not above that, or G not above what any step of the series shows
 *   G          S + min(max(S of the two rows before), 2 S)
 *
 * So the threshold settles where episodes come at the target rate (stochastic approximation of a quantile, Robbins
 * and Monro 1951). The steps are large at first and shrink with the number of episodes seen. It stops falling below
 * typical rows: a series that is quiet for weeks must not be in alarm for weeks once it stirs.
 */
export function judgeRow(
  state: Float64Array,
  start: number,
  unusual: Unusualness | null,
  { rate, gap, isGroup }: AlarmTarget,
): Verdict {
  const sinceExceeded = passRow(state, start + SINCE_EXCEEDED);
  const sinceRaised = passRow(state, start + SINCE_RAISED);
  const together = alarmStatistic(state, start, unusual?.sharp ?? 0);
  const elevated = (unusual?.sharp ?? 0) < GRADE_HALF ? 0 : state[start + ELEVATED] + 1;
  state[start + ELEVATED] = elevated;
  if (unusual === null) return NO_VERDICT;
  const { sharp, wide, unexplained = sharp, rareStep = 0 } = unusual;
  const held = Math.max(wide, HELD_SHARE * state[start + HELD]);
  const energy = state[start + ENERGY] + ENERGY_RATE * (Math.min(wide, ENERGY_MAX) ** 2 - state[start + ENERGY]);
  state[start + HELD] = inSinglePrecision(held);
  state[start + ENERGY] = inSinglePrecision(energy);
  const targetRate = Math.min(rate, ALARM_RATE_MAX, EPISODES_PER_GAP_MAX / gap);
  const threshold = startOf(targetRate, isGroup) * Math.exp(state[start + THRESHOLD]);
  const margin = MARGIN_SHARE * stepOf(state[start + EPISODES]);
  const isExceeded = together > threshold;
  if (isExceeded) {
    const begins = sinceExceeded > gap;
    if (begins) state[start + EPISODES]++;
    if (sinceRaised >= gap) {
      const rise = riseOf(threshold / together) * (begins ? 1 : CONTINUED_SHARE);
      state[start + THRESHOLD] += stepOf(state[start + EPISODES]) * rise;
      state[start + SINCE_RAISED] = 1;
    }
    state[start + SINCE_EXCEEDED] = 1;
  }
  if (threshold > TYPICAL_TOGETHER) {
    // Rows above the threshold are as much more frequent than those that exceed it by the margin.
    const exceedingRate = FALL * targetRate * Math.exp(margin / exponentOf(targetRate, isGroup));
    state[start + THRESHOLD] -= stepOf(state[start + EPISODES]) * Math.min(exceedingRate, EPISODES_PER_GAP_MAX / gap);
  }
  const severity = held + ENERGY_WEIGHT * Math.sqrt(energy);
  const alarmed = threshold * Math.exp(margin);
  const alarm = together > alarmed && together > rareStep && together * unexplained > alarmed * sharp;
  return {
    grade: gradeOf(sharp),
    severity,
    alarm,
    threshold: gradeOf(alarmed),
    season: null,
    elevated,
    outsideProfile: 0,
  };
}

function gradeOf(unusualness: number): number {
  return unusualness / (unusualness + GRADE_HALF);
}

/** A row with what the two rows before it add: an incident that grows is seen earlier. */
function alarmStatistic(state: Float64Array, start: number, sharp: number): number {
  const before = Math.max(state[start + PREVIOUS], state[start + BEFORE_PREVIOUS]);
  state[start + BEFORE_PREVIOUS] = state[start + PREVIOUS];
  state[start + PREVIOUS] = inSinglePrecision(sharp);
  return sharp + Math.min(before, BEFORE_SHARE_MAX * sharp);
}

/** Rows since a mark, this one included; infinite where there was none. */
function passRow(state: Float64Array, at: number): number {
  if (state[at] === 0) return Number.POSITIVE_INFINITY;
  return state[at]++;
}

/** Factor by which the threshold of a series is higher at a rate below 1 in 1,000 rows. */
export function rareFactor(rate: number): number {
  return Math.max(1, (TAIL_RATE / rate) ** RARE_EXPONENT);
}

/** Start of the threshold. */
function startOf(rate: number, isGroup: boolean): number {
  const together = isGroup ? TOGETHER_START_GROUP : TOGETHER_START;
  return together * GRADE_HALF * (TAIL_RATE / rate) ** exponentOf(rate, isGroup);
}

/** Exponent x of the tail: the threshold of a rate r is proportional to r^-x. */
function exponentOf(rate: number, isGroup: boolean): number {
  if (rate >= TAIL_RATE) return TAIL_EXPONENT;
  return isGroup ? RARE_EXPONENT_GROUP : RARE_EXPONENT;
}

/**
 * Steps by which an alarm raises the threshold, by the share of it that the threshold is: one far beyond shows little
 * of where alarms begin to be too many. So a series with large incidents still detects others. With the tails of most
 * series, it is one step on average.
 */
function riseOf(share: number): number {
  return RISE_STEPS * share * Math.sqrt(share);
}

/** By how much an episode moves the logarithm of a threshold. */
export function stepOf(episodes: number): number {
  return Math.max(STEP_MIN, STEP_FIRST / (1 + episodes));
}
