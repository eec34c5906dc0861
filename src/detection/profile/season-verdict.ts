import { factorOf } from './level-factor.ts';
import { PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileState } from './profile-layout.ts';
import {
  atypicalSquare,
  bestCandidate,
  distanceOf,
  expectedDistance,
  explains,
  hourOf,
  isFlatStretch,
  MEAN,
  unitOf,
  valueAt,
} from './season-candidates.ts';
import { enterSlot } from './season-profile.ts';
import { type DayVerdict, dayVerdict } from './whole-day.ts';

const { firstMs: FIRST_MS, slot: SLOT, sum: SUM, origin: ORIGIN } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

const DAY_MS = 86_400_000;
/** A profile is mature from so many days on, where it explains the values of slots. */
const MATURE_MS = 14 * DAY_MS;
/** Shares of the hour's own spread and of that of all hours. */
const HOUR_WEIGHT = 0.75;
const SPREAD_SHARE_MIN = 0.25;
const KNOWN_DAYS = 0.5;
/** A value within so many deviations of the profile is what this hour always shows. */
const USUAL = 2.5;
/** Within so many, too, where the profile leaves less than this share of what forecast and last value are off. */
const EXPLAINED = 5;
const UNEXPLAINED_SHARE = 0.25;
const Z_MAX = 8;
/** A level explains a value within so many root mean square distances. */
const NEARLY_USUAL = 4;
const SHARE_MIN = 0.25;
/** The mean square distance forgets with so much time. */
const DISTANCE_MS = 14 * DAY_MS;
const DISTANCE_ROWS_MIN = 24;

/** The verdict of the seasonal profile of a series on one value. */
export interface SeasonVerdict {
  /** Recent mean distance from the profile in deviations of this hour; 0 while it is not mature. */
  readonly unusual: number;
  /** The value is what this hour always shows. */
  readonly isUsual: boolean;
  /** Distance of the value from what was expected, and that in deviations of single values at this hour. */
  readonly distance: number;
  readonly deviations: number;
  /** The expected value, and the deviation of single values at this hour. */
  readonly expected: number;
  readonly deviation: number;
  /** The expected value plus the recent mean distance from the profile. */
  readonly recentMean: number;
  readonly timestampMs: number;
  /** Today so far, as a slot of it closes; null if that is not known. */
  readonly day: DayVerdict | null;
}

/**
 * Tracks an observed value with its event time.
 * @param floor smallest deviation, in units of the series
 */
export function trackSeason(
  state: ProfileState,
  timestampMs: number,
  value: number,
  floor: number,
): SeasonVerdict | null {
  const { layout, doubles, doubleStart: d, floats, floatStart: f, halves, halfStart } = state;
  const before = doubles[d + SLOT];
  const place = enterSlot(state, timestampMs, value);
  const candidate = bestCandidate(state);
  const level = candidate === MEAN ? 1 : levelOf(state, candidate, { place, value });
  const shown = distanceOf(state, value / level);
  const expected = candidate === MEAN ? Number.NaN : expectedDistance(state, candidate, { place, distance: shown });
  doubles[d + SUM] += value - doubles[d + ORIGIN];
  floats[f + F.rows]++;
  if (Number.isNaN(expected)) return null;
  const distance = shown - expected;
  const unit = unitOf(state);
  const hour = hourOf(layout, doubles[d + SLOT]);
  const smallest = square(floor / unit);
  floats[f + F.recent] += layout.recentRate * (distance - floats[f + F.recent]);
  const recent = floats[f + F.recent];
  const meanSquare = Math.max(floats[f + F.distance], smallest);
  const z = distanceRatio(state, Math.abs(distance), smallest);
  const isFlat = isFlatStretch(state, candidate);
  // A slot that never varies on one kind of day does not show how values vary at this hour of the others.
  if (!isFlat || square(distance) > smallest || !(halves[halfStart + layout.places.spread + hour] > 0)) {
    floats[f + F.expectedRows]++;
    floats[f + F.squares] += recent * recent;
    floats[f + F.zSquares] += square(Math.min(z, Z_MAX));
  }
  if (floats[f + F.spreadSlots] < KNOWN_DAYS * layout.daySlots) return null;
  if (timestampMs - doubles[d + FIRST_MS] < MATURE_MS || !explains(state, candidate)) return null;
  const own = square(halves[halfStart + layout.places.spread + hour]);
  const all = floats[f + F.spread];
  const variance = Math.max(
    Number.isNaN(own) ? all : Math.max(own, HOUR_WEIGHT * own + (1 - HOUR_WEIGHT) * all),
    SPREAD_SHARE_MIN * all,
    smallest,
  );
  const share = Math.max(shareOfHour(state, hour), SHARE_MIN);
  const deviations = (isFlat ? Math.abs(distance) / Math.sqrt(smallest) : z) / Math.sqrt(share);
  return {
    unusual: variance > 0 ? Math.abs(recent) / Math.sqrt(variance) : 0,
    isUsual: deviations < USUAL,
    distance: Math.abs(distance) * unit * level,
    deviations,
    expected: level * valueAt(state, expected),
    deviation: Math.sqrt(meanSquare * share) * unit * level,
    recentMean: level * valueAt(state, expected + recent),
    timestampMs,
    day: doubles[d + SLOT] === before ? null : dayVerdict(state, candidate, floor),
  };
}

/** The factor of the level that a value is compared at: that of the profile only if it explains the value better. */
function levelOf(state: ProfileState, candidate: number, { place, value }: { place: number; value: number }): number {
  const factor = factorOf(state);
  if (factor === 1) return 1;
  const [own, other] = [1, factor].map((level) => {
    const distance = distanceOf(state, value / level);
    return Math.abs(distance - expectedDistance(state, candidate, { place, distance }));
  });
  const isOwn = own <= other && own <= NEARLY_USUAL * Math.sqrt(state.floats[state.floatStart + F.distance]);
  return isOwn ? 1 : factor;
}

/**
 * The verdict given how far the value lies off its forecast, or the last value. A forecast may not see what the profile
 * knows, such as Monday morning behind a weekend that fills its context.
 * @param moved magnitude, in units of the series
 */
export function explainedByProfile(season: SeasonVerdict | null, moved = 0): SeasonVerdict | null {
  if (season === null || season.isUsual) return season;
  const isExplained = season.deviations < EXPLAINED && season.distance < UNEXPLAINED_SHARE * moved;
  return isExplained ? { ...season, isUsual: true } : season;
}

/** A distance in units of those before it, which then learn of it. */
function distanceRatio({ layout, floats, floatStart: f }: ProfileState, distance: number, smallest: number): number {
  const rows = floats[f + F.distanceRows];
  const mean = Math.max(floats[f + F.distance], smallest);
  const z = rows === 0 ? 0 : mean > 0 ? distance / Math.sqrt(mean) : distance > 0 ? Z_MAX : 0;
  const most = Math.max(square(Z_MAX) * mean, atypicalSquare(floats[f + F.errors + MEAN], square(distance)));
  const shown = rows > DISTANCE_ROWS_MIN ? Math.min(square(distance), most) : square(distance);
  const counted = Math.min(rows + 1, DISTANCE_MS / layout.stepMs);
  floats[f + F.distanceRows] = counted;
  floats[f + F.distance] += (shown - floats[f + F.distance]) / counted;
  return z;
}

/** Variation of values at this hour and the two next to it, as a share of that of all hours; 1 if not known. */
function shareOfHour({ layout, halves, halfStart, floats, floatStart: f }: ProfileState, hour: number): number {
  const { daySlots, places } = layout;
  const start = halfStart + places.share;
  const own = halves[start + hour];
  const before = halves[start + (hour === 0 ? daySlots - 1 : hour - 1)];
  const after = halves[start + (hour === daySlots - 1 ? 0 : hour + 1)];
  const share = (2 * own + before + after) / 4 / floats[f + F.hourShare];
  return Number.isNaN(share) ? 1 : share;
}

/** A power would take many times as long. */
function square(number: number): number {
  return number * number;
}
