import { ALARM_STATE, judgeRow, rareFactor, type SeasonAlarm, type Unusualness, type Verdict } from '../alarm/alarm.ts';
import { unusualGroup } from '../alarm/group-unusualness.ts';
import { inSinglePrecision } from '../calibration/precision.ts';
import { deviationFloor } from '../calibration/resolution.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { hasProfile } from '../profile/profile-layout.ts';
import { passSeason, type SeasonPassed, seasonAlarm } from '../profile/season-alarm.ts';
import { explainedByProfile, type SeasonVerdict, trackSeason } from '../profile/season-verdict.ts';
import { profileState, SCALARS } from './series-memory.ts';
import type { SeriesRings } from './series-rings.ts';

/** One member of a group in a time step. */
export interface JudgedMember {
  readonly rings: SeriesRings;
  /** NaN if it was not observed. */
  readonly value: number;
  /** null if it has no value or no forecast. */
  readonly unusual: Unusualness | null;
}

interface TimedStep {
  /** NaN if it is not known: then members have no seasonal verdict. */
  readonly timestampMs: number;
  readonly settings: DetectionSettings & { readonly alarmRate: number };
}

/** The verdict on a time step of a group. */
export interface GroupVerdict {
  readonly verdict: Verdict;
  /** The season of each member, if the step is an alarm; null for none. */
  readonly seasons: readonly (SeasonAlarm | null)[];
}

interface MemberSeason extends SeasonPassed {
  readonly season: SeasonVerdict | null;
}

/**
 * Judges a time step by the forecasts of all members together and by the seasonal profile of each. Members whose values
 * are what this hour always shows add nothing to an alarm. A member outside of its season raises one of its own.
 */
export function judgeGroup(
  { alarm: alarmState, scales }: { readonly alarm: Float64Array; readonly scales: Float64Array },
  members: readonly JudgedMember[],
  { timestampMs, settings: { alarmRate, detectionSize } }: TimedStep,
): GroupVerdict {
  const target = { rate: alarmRate, gap: detectionSize, isGroup: true };
  const shown = members.map(({ unusual }) => unusual);
  const hasSeasons = members.some(({ rings }) => rings.layout.profile !== null);
  const alone = members.map((member) => isAlarmAlone(member, alarmRate));
  const judge = (areUsual: readonly boolean[]): Verdict => {
    const together = judgeRow(alarmState, 0, unusualGroup(scales, shown, areUsual), target);
    const isOne = members.length > 1 && alone.some((alarm, i) => alarm && areUsual[i] !== true);
    return { ...together, alarm: together.alarm || isOne };
  };
  if (!hasSeasons) return { verdict: judge([]), seasons: [] };
  const passed = passMembers(members, timestampMs, alarmRate);
  const areUsual = passed.map(({ season }) => season?.isUsual === true);
  const verdict = judge(areUsual);
  const leader = mostUnusual(passed.filter(({ raised }) => raised));
  const alarm = verdict.alarm || leader !== null;
  const seasons = alarm ? passed.map(({ season, raised }, i) => seasonOf(members[i], season, raised)) : [];
  const areKnown = passed.every(({ season }, i) => season !== null || members[i].unusual === null);
  return {
    verdict: {
      ...verdict,
      alarm,
      elevated: areKnown ? Math.min(verdict.elevated, longest(passed)) : verdict.elevated,
      outsideProfile: longest(passed.filter(({ isDisplaced }) => isDisplaced)),
      season: leader === null ? null : seasons[passed.indexOf(leader)],
    },
    seasons,
  };
}

/** Rows after which the highest ones of a member are known; they are forgotten with as many as its scales. */
const KNOWN_ROWS = 300;
const FORGET_ROWS = 3_000;
/** One row raises what is known of them by this share at most: an incident does not hide the next one. */
const RISE_MAX = 1.25;
/** A member alone is an alarm so many times beyond them, at 1 in 1,000 rows. */
const BEYOND = 1.6;

/**
 * True if a member alone is an alarm: many quiet members hide it in what all show together. Its rows are compared with
 * the highest ones of its own past, so that a member with heavy tails needs more. It learns of the row, in two numbers
 * of the alarm state that only series alone have a use for.
 */
function isAlarmAlone({ rings, unusual }: JudgedMember, rate: number): boolean {
  if (unusual === null) return false;
  const { held, episodes } = ALARM_STATE.at;
  const [highest, rows] = [rings.scalar(SCALARS.alarm + held), rings.scalar(SCALARS.alarm + episodes)];
  const { sharp } = unusual;
  const most = rows < KNOWN_ROWS ? sharp : Math.min(sharp, RISE_MAX * highest);
  rings.setScalar(SCALARS.alarm + held, inSinglePrecision(Math.max(most, highest * (1 - 1 / FORGET_ROWS))));
  rings.setScalar(SCALARS.alarm + episodes, Math.min(KNOWN_ROWS, rows + 1));
  return rows >= KNOWN_ROWS && sharp > BEYOND * rareFactor(rate) * highest;
}

/** Members share the target rate, except those that had no value so far. */
function passMembers(members: readonly JudgedMember[], timestampMs: number, rate: number): MemberSeason[] {
  const states = members.map(({ rings }) => profileState(rings, rings.layout.profile!));
  const observed = members.map(({ rings, value, unusual }, i) => {
    if (Number.isNaN(value) || Number.isNaN(timestampMs)) return null;
    const floor = deviationFloor(rings.doubles, rings.scalarIndex(SCALARS.resolution));
    return explainedByProfile(trackSeason(states[i], timestampMs, value, floor), unusual?.moved);
  });
  const begun = states.filter(hasProfile).length;
  return members.map(({ unusual }, i) => {
    const season = unusual === null ? null : observed[i];
    return { season, ...passSeason(states[i], season, { rate: rate / begun, isMember: true }) };
  });
}

function seasonOf({ rings }: JudgedMember, season: SeasonVerdict | null, raised: boolean): SeasonAlarm | null {
  return season === null ? null : seasonAlarm(rings.layout.profile!, season, raised);
}

function mostUnusual(passed: readonly MemberSeason[]): MemberSeason | null {
  const unusualOf = ({ season }: MemberSeason) => season?.unusual ?? 0;
  return passed.toSorted((a, b) => unusualOf(b) - unusualOf(a))[0] ?? null;
}

function longest(passed: readonly SeasonPassed[]): number {
  return passed.reduce((most, { outsideProfile }) => Math.max(most, outsideProfile), 0);
}
