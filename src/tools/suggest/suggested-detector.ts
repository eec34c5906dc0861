import { CALIBRATION_WINDOWS_MIN } from '../../detection/calibration/threshold.ts';
import { CONTEXT_MIN } from '../../forecasting/context-length.ts';
import { type Frequency, meanStepMs } from '../../time/frequency.ts';
import { SEASON_MIN } from './daily-season.ts';
import type { Family } from './families.ts';
import { isConstant, type SeriesProfile } from './series-profile.ts';

/** One detector of a suggested file, with the reasons for its settings. */
export interface SuggestedDetector {
  readonly name: string;
  readonly family: Family;
  readonly freq: Frequency;
  /** `rate`: the series are counters. */
  readonly as: 'rate' | null;
  /** Aggregation of several observations of a step; null if there is one. */
  readonly aggregate: 'mean' | null;
  readonly h: number;
  readonly detectionSize: number;
  readonly direction: 'up' | 'down' | 'both';
  /** In units of the series; null: any. */
  readonly minDeviation: number | null;
  /** null: the default. */
  readonly silenceAfter: number | 'off' | null;
  /** Why a key has its value, by its name in the file. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Series that end before they have a threshold. */
  readonly shortLived: readonly SeriesProfile[];
  /** Series that have none yet. */
  readonly uncalibrated: readonly SeriesProfile[];
  readonly constant: readonly SeriesProfile[];
  readonly sparse: readonly SeriesProfile[];
  /** Share of the series with a daily or weekly season, and when their days are quietest (UTC). */
  readonly seasonal: { readonly share: number; readonly quietestHour: number } | null;
}

/** Series that are not worth watching, and why. */
export interface NotWatched {
  readonly family: Family;
  readonly why: 'constant' | 'sparse' | 'no-step' | 'short-lived';
}

type FamilyVerdict =
  | { readonly kind: 'detector'; readonly detector: Omit<SuggestedDetector, 'name'> }
  | { readonly kind: 'not-watched'; readonly not: NotWatched };

const DAY_MS = 86_400_000;
const MIN_MS = 60_000;
/** Windows by the length of a step: a day of hours, a week of days, a month of weeks. */
const WINDOW_DEFAULT = 24;
const WINDOW_OF_DAYS = 7;
const WINDOW_OF_WEEKS = 4;
const WINDOWS_SHORT = [12, 8, 6, 4] as const;
/** Series whose missing steps are more than this share are not watched. */
export const MISSING_SHARE_MAX = 0.5;
/** A series that lacks so many steps at the end of the data has ended. */
const ENDED_STEPS = 10;
const SILENCE_DEFAULT_STEPS = 5;
const SILENCE_DEFAULT_MS = 5 * MIN_MS;
const SHORT_LIVED_SHARE = 0.5;

const UP = /err|fail|drop|reject|retry|retries|timeout|latency|duration|delay|lag|queue|backlog|wait|5xx|restart/i;
const DOWN = /free|avail|remaining|headroom|success|healthy|hit_?ratio|battery/i;

/** Steps after which a series has a threshold. */
export function stepsToMature(detectionSize: number): number {
  return CONTEXT_MIN + (CALIBRATION_WINDOWS_MIN + 1) * detectionSize;
}

/** The detector that is suggested for a family. @param endMs the newest time of all series */
export function judgeFamily(family: Family, endMs: number): FamilyVerdict {
  const { members, freq } = family;
  const not = (why: NotWatched['why']): FamilyVerdict => ({ kind: 'not-watched', not: { family, why } });
  if (freq === null) return not('no-step');
  const [constant, varying] = divide(members, isConstant);
  if (varying.length === 0) return not('constant');
  const [sparse, dense] = divide(varying, ({ missing }) => missing > MISSING_SHARE_MAX);
  if (dense.length === 0) return not('sparse');
  const stepMs = meanStepMs(freq);
  const isOver = ({ lastMs }: SeriesProfile) => lastMs < endMs - ENDED_STEPS * stepMs;
  const { detectionSize, why } = windowOf(stepMs, dense, isOver);
  const immature = dense.filter(({ steps }) => steps < stepsToMature(detectionSize));
  const [shortLived, uncalibrated] = divide(immature, isOver);
  if (shortLived.length === dense.length) return not('short-lived');
  const most = (is: (profile: SeriesProfile) => boolean) => 2 * dense.filter(is).length > dense.length;
  const as = most(({ isCounter }) => isCounter) ? 'rate' : null;
  const aggregate = most(({ isAggregated }) => isAggregated) ? 'mean' : null;
  const direction = UP.test(family.name) ? 'up' : DOWN.test(family.name) ? 'down' : 'both';
  const minDeviation = as === null && aggregate === null ? minDeviationOf(dense) : null;
  const silence = silenceOf(dense, stepMs, shortLived.length / dense.length);
  return {
    kind: 'detector',
    detector: {
      family,
      freq,
      as,
      aggregate,
      h: detectionSize,
      detectionSize,
      direction,
      minDeviation,
      silenceAfter: silence.after,
      reasons: {
        detection_size: why,
        ...(direction !== 'both' && {
          direction: `by its name only ${direction === 'up' ? 'more' : 'less'} is bad`,
        }),
        ...(minDeviation !== null && { min_deviation: 'values have this resolution: less is one step of it' }),
        ...(silence.why !== null && { silence_after: silence.why }),
      },
      shortLived,
      uncalibrated,
      constant,
      sparse,
      seasonal: seasonalOf(dense),
    },
  };
}

/** Those that fit, and the others. */
function divide(profiles: readonly SeriesProfile[], fits: (profile: SeriesProfile) => boolean) {
  return [profiles.filter(fits), profiles.filter((profile) => !fits(profile))] as const;
}

/** The usual window, or a shorter one where series live too short for it. */
function windowOf(stepMs: number, members: readonly SeriesProfile[], isOver: (profile: SeriesProfile) => boolean) {
  const [usual, why] =
    stepMs >= 7 * DAY_MS
      ? [WINDOW_OF_WEEKS, 'four weeks']
      : stepMs >= DAY_MS
        ? [WINDOW_OF_DAYS, 'a week of days']
        : [WINDOW_DEFAULT, 'the default'];
  const ended = members.filter(isOver);
  const lives = ended.map(({ steps }) => steps).sort((a, b) => a - b);
  const median = lives[lives.length >> 1] ?? Number.POSITIVE_INFINITY;
  if (2 * ended.length <= members.length || median >= 2 * stepsToMature(usual)) return { detectionSize: usual, why };
  const short = WINDOWS_SHORT.find((size) => size < usual && median >= 2 * stepsToMature(size));
  const detectionSize = short ?? Math.min(usual, WINDOWS_SHORT.at(-1)!);
  return {
    detectionSize,
    why: `half of the series end within ${median} steps; shorter windows have a threshold earlier`,
  };
}

/** One step of values with few distances, such as counts and shares in percent, is no event. */
function minDeviationOf(members: readonly SeriesProfile[]): number | null {
  const resolutions = members.map(({ resolution }) => resolution).sort((a, b) => a - b);
  const usual = resolutions[resolutions.length >> 1];
  const range = Math.max(...members.map(({ min, max }) => max - min));
  // A value that is on or off has one step: that is all there is to see.
  return usual > 0 && range > 4 * usual ? Number(usual.toPrecision(2)) : null;
}

function silenceOf(members: readonly SeriesProfile[], stepMs: number, shortLivedShare: number) {
  if (shortLivedShare > SHORT_LIVED_SHARE) {
    return { after: 'off' as const, why: 'most of these series are short-lived' };
  }
  const gaps = members.map(({ usualGap }) => usualGap).sort((a, b) => a - b);
  const gap = gaps[Math.ceil(0.95 * gaps.length) - 1];
  const byDefault = Math.max(SILENCE_DEFAULT_STEPS, Math.ceil(SILENCE_DEFAULT_MS / stepMs));
  if (gap <= byDefault) return { after: null, why: null };
  return { after: 2 * gap, why: `gaps of ${gap} steps are usual` };
}

function seasonalOf(members: readonly SeriesProfile[]): SuggestedDetector['seasonal'] {
  const seasonal = members.flatMap(({ season }) =>
    season !== null && Math.max(season.day, season.week) >= SEASON_MIN ? [season] : [],
  );
  if (seasonal.length === 0) return null;
  const hours = new Map<number, number>();
  for (const { quietestHour } of seasonal) hours.set(quietestHour, (hours.get(quietestHour) ?? 0) + 1);
  const [quietestHour] = [...hours].reduce((a, b) => (b[1] > a[1] ? b : a));
  return { share: seasonal.length / members.length, quietestHour };
}
