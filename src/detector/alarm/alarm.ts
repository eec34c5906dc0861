import { layout } from '../calibration/layout.ts';

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
});
const {
  held: HELD,
  energy: ENERGY,
  threshold: THRESHOLD,
  episodes: EPISODES,
  sinceExceeded: SINCE_EXCEEDED,
  sinceRaised: SINCE_RAISED,
} = ALARM_STATE.at;

/** At this unusualness the grade is a half; 1 row in 1,000 of most series is above it. */
const GRADE_HALF = 14;
const HELD_SHARE = 0.9;
const ENERGY_RATE = 0.02;
const ENERGY_MAX = 40;
const ENERGY_WEIGHT = 2;
/**
 * The threshold that keeps a rate of r false episodes a row in most series is 14 (0.001 / r)^0.36. Beyond 1 row in
 * 1,000 the tail is longer, that of groups most of all; a time step of a group is as unusual as its most unusual
 * members.
 */
const TAIL_RATE = 0.001;
const TAIL_EXPONENT = 0.36;
const RARE_EXPONENT = 0.38;
const RARE_EXPONENT_GROUP = 0.5;
const GROUP_START = 2;
/** Half of what a row shows whose terms all equal their own scales. A threshold does not fall below it. */
export const ORDINARY = 3;
const STEP_MIN = 0.05;
const STEP_FIRST = 0.5;
/** A row that goes on with an episode raises the threshold by this share of what the first row does. */
const CONTINUED_SHARE = 1 / 3;
/** Promised alarms are never more frequent, whatever the frequency of the series. */
export const ALARM_RATE_MAX = 0.01;

/** How unusual one row is. */
export interface Unusualness {
  /** For the grade and the alarm: sharp, only while the newest value itself is odd. */
  readonly sharp: number;
  /** For the severity: as long as the shape is odd. */
  readonly wide: number;
}

/** The verdict on one row. */
export interface Verdict {
  /**
   * 0..1, comparable across series; a half where 1 row in 1,000 of most series is. NaN without a value and a forecast.
   */
  readonly grade: number;
  /** >= 0, unbounded: how much is going on. NaN without a value and a forecast. */
  readonly severity: number;
  /** The threshold that keeps the promised rate is exceeded. */
  readonly alarm: boolean;
}

export const NO_VERDICT: Verdict = { grade: Number.NaN, severity: Number.NaN, alarm: false };

/** What the user accepts. */
export interface AlarmPromise {
  /** Accepted false alarm episodes a row, above 0. */
  readonly rate: number;
  /** Rows without an alarm that end an episode: the detection size. */
  readonly gap: number;
  /** Rows of a group are more unusual than those of a series, so its threshold starts higher. */
  readonly isGroup: boolean;
}

/**
 * Takes the next row; null where it has no value or no forecast.
 *
 *   grade      S / (S + 14)
 *   severity   max(S', 0.9 x what was held) + 2 sqrt(energy)
 *   alarm      S above a threshold that rises by a step with every episode and falls by `rate` steps with every row
 *
 * So the threshold settles where episodes come at the promised rate (stochastic approximation of a quantile, Robbins
 * and Monro 1951). The steps are large at first and shrink with the number of episodes seen. It stops falling below
 * ordinary rows: a series that is quiet for weeks must not be in alarm for weeks once it stirs.
 */
export function judgeRow(
  state: Float64Array,
  start: number,
  unusual: Unusualness | null,
  { rate, gap, isGroup }: AlarmPromise,
): Verdict {
  const sinceExceeded = passRow(state, start + SINCE_EXCEEDED);
  const sinceRaised = passRow(state, start + SINCE_RAISED);
  if (unusual === null) return NO_VERDICT;
  const { sharp, wide } = unusual;
  const held = Math.max(wide, HELD_SHARE * state[start + HELD]);
  const energy = state[start + ENERGY] + ENERGY_RATE * (Math.min(wide, ENERGY_MAX) ** 2 - state[start + ENERGY]);
  state[start + HELD] = held;
  state[start + ENERGY] = energy;
  const promised = Math.min(rate, ALARM_RATE_MAX);
  const threshold = startOf(promised, isGroup) * Math.exp(state[start + THRESHOLD]);
  const alarm = sharp > threshold;
  if (alarm) {
    const begins = sinceExceeded > gap;
    if (begins) state[start + EPISODES]++;
    if (sinceRaised >= gap) {
      state[start + THRESHOLD] += stepOf(state[start + EPISODES]) * (begins ? 1 : CONTINUED_SHARE);
      state[start + SINCE_RAISED] = 1;
    }
    state[start + SINCE_EXCEEDED] = 1;
  }
  if (threshold > ORDINARY) state[start + THRESHOLD] -= stepOf(state[start + EPISODES]) * promised;
  return { grade: sharp / (sharp + GRADE_HALF), severity: held + ENERGY_WEIGHT * Math.sqrt(energy), alarm };
}

/** Rows since a mark, this one included; infinite where there was none. */
function passRow(state: Float64Array, at: number): number {
  if (state[at] === 0) return Number.POSITIVE_INFINITY;
  return state[at]++;
}

/** Where the threshold starts. */
function startOf(rate: number, isGroup: boolean): number {
  const rareExponent = isGroup ? RARE_EXPONENT_GROUP : RARE_EXPONENT;
  const exponent = rate < TAIL_RATE ? rareExponent : TAIL_EXPONENT;
  return (isGroup ? GROUP_START : 1) * GRADE_HALF * (TAIL_RATE / rate) ** exponent;
}

function stepOf(episodes: number): number {
  return Math.max(STEP_MIN, STEP_FIRST / (1 + episodes));
}
