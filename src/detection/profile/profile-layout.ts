import { type LocalCalendar, offsetAt } from '../../time/local-calendar.ts';
import { type Layout, layout } from '../calibration/layout.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const WEEK_DAYS = 7;

/** That more than one slot closed since the state was written, that all have another unit, or that it has begun. */
export const CLOSED_MORE = 2;

/** Numbers of a profile that need all digits: raw values and times. */
export const PROFILE_DOUBLES = layout({
  /** Value that the profile keeps distances from, and its unit, a power of two; both of the first slots. */
  origin: 1,
  unit: 1,
  /** Event time of the first value; NaN before it. */
  firstMs: 1,
  /** The open slot, counted from 1970 by local time, and the sum of its values as distances from the origin. */
  slot: 1,
  sum: 1,
});

/** Numbers of a profile in its unit. */
export const PROFILE_FLOATS = layout({
  /** Values in the open slot, those of them that were expected, and of these the sums of u^2 and of min(z, 8)^2. */
  rows: 1,
  expectedRows: 1,
  squares: 1,
  zSquares: 1,
  /** Recent mean distance of values from the profile (exponential). */
  recent: 1,
  /** Mean square error of each candidate, then of the mean, and of the slot before. */
  errors: 6,
  /** Slots by which the candidates of a day, and those of a week, were measured. */
  daySlots: 1,
  weekSlots: 1,
  /** Slots so far, and how far their values are above the day's and the week's, on recent average. */
  slots: 1,
  dayLevel: 1,
  weekLevel: 1,
  mean: 1,
  last: 1,
  /** Mean square of u, and slots of it. */
  spread: 1,
  spreadSlots: 1,
  /** Mean square distance of a value from the profile, and values of it; the mean of its share at each hour. */
  distance: 1,
  distanceRows: 1,
  hourShare: 1,
  /** Slots that closed since the state was written, CLOSED_MORE at most; then the last one. */
  closed: 1,
  closedSlot: 1,
  /** The alarm of the season: its threshold, its episodes, and values until it is armed again. */
  threshold: 1,
  episodes: 1,
  unarmed: 1,
  /** Values in a row that are not what their hours always show. */
  outsideProfile: 1,
  /** Slots of today that are known, with marks of alarms (whole-day.ts); what was expected and the errors, summed. */
  todaySlots: 1,
  todayExpected: 1,
  todayError: 1,
  /** Mean square error of whole days as a share of what was expected, and days of it. */
  daySquare: 1,
  days: 1,
  /** A factor of all values that may be their new level, and slots that showed it (level-factor.ts); 0 for none. */
  factor: 1,
  factorSlots: 1,
});

/** Those that change with every value; the others change as a slot closes, and with the first value. */
export const ROW_DOUBLES = [PROFILE_DOUBLES.at.sum];
export const ROW_FLOATS = [
  PROFILE_FLOATS.at.rows,
  PROFILE_FLOATS.at.expectedRows,
  PROFILE_FLOATS.at.squares,
  PROFILE_FLOATS.at.zSquares,
  PROFILE_FLOATS.at.recent,
  PROFILE_FLOATS.at.distance,
  PROFILE_FLOATS.at.distanceRows,
  PROFILE_FLOATS.at.threshold,
  PROFILE_FLOATS.at.episodes,
  PROFILE_FLOATS.at.unarmed,
  PROFILE_FLOATS.at.outsideProfile,
];

/** The parts of the 16-bit numbers: usual day, usual week, and by the time of the day the deviation and the share. */
type SlotPart = 'day' | 'week' | 'spread' | 'share';

/** Places of the parts, by the number of slots of a day. */
export function slotPlaces(daySlots: number): Layout<SlotPart> {
  return layout({ day: daySlots, week: WEEK_DAYS * daySlots, spread: daySlots, share: daySlots });
}

/** The places of what is known of one slot of the week. */
export function placesOfSlot(daySlots: number, weekSlot: number): number[] {
  const { at } = slotPlaces(daySlots);
  const hour = weekSlot % daySlots;
  return [at.day + hour, at.week + weekSlot, at.spread + hour, at.share + hour];
}

/** Layout that the profiles of a detector share. */
export interface ProfileLayout {
  readonly calendar: LocalCalendar;
  readonly weekdayOfSpecial: ReadonlyMap<number, number>;
  readonly stepMs: number;
  readonly slotMs: number;
  readonly daySlots: number;
  /** Values that a slot must have to count. */
  readonly rowsMin: number;
  /** By how much a value moves the mean of how far values lie from the profile on the last rows. */
  readonly recentRate: number;
  readonly places: Layout<SlotPart>['at'];
  readonly halves: number;
}

/** The recent mean distance from the profile forgets with half an hour. */
const RECENT_MS = HOUR_MS / 2;
/** A slot counts with this share of its values. */
const ROWS_SHARE_MIN = 0.4;
/** A profile has at least so many slots a day: a step of a day has no time of the day. */
const DAY_SLOTS_MIN = 2;

/** null if the step is too long for a profile. */
export function profileLayout(calendar: LocalCalendar, stepMs: number): ProfileLayout | null {
  const hours = Math.ceil(stepMs / HOUR_MS);
  const slotHours = Array.from({ length: DAY_HOURS }, (_, i) => i + 1).find(
    (each) => each >= hours && DAY_HOURS % each === 0,
  );
  if (slotHours === undefined || DAY_HOURS / slotHours < DAY_SLOTS_MIN) return null;
  const slotMs = slotHours * HOUR_MS;
  const daySlots = DAY_HOURS / slotHours;
  const { at: places, count: halves } = slotPlaces(daySlots);
  return {
    calendar,
    weekdayOfSpecial: new Map(calendar.specialDays),
    stepMs,
    slotMs,
    daySlots,
    rowsMin: Math.max(1, (ROWS_SHARE_MIN * slotMs) / stepMs),
    recentRate: 1 - Math.exp(-stepMs / RECENT_MS),
    places,
    halves,
  };
}

/** The numbers of one profile, in arrays that it shares with others. */
export interface ProfileState {
  readonly layout: ProfileLayout;
  readonly doubles: Float64Array;
  readonly doubleStart: number;
  readonly floats: Float32Array;
  readonly floatStart: number;
  readonly halves: Float16Array;
  readonly halfStart: number;
}

/** A profile that has seen nothing. */
export function startProfile({
  layout,
  doubles,
  doubleStart,
  floats,
  floatStart,
  halves,
  halfStart,
}: ProfileState): void {
  doubles.fill(0, doubleStart, doubleStart + PROFILE_DOUBLES.count);
  doubles[doubleStart + PROFILE_DOUBLES.at.firstMs] = Number.NaN;
  floats.fill(0, floatStart, floatStart + PROFILE_FLOATS.count);
  halves.fill(Number.NaN, halfStart, halfStart + layout.halves);
}

/** A profile that has seen nothing, in arrays of its own. */
export function emptyProfile(layout: ProfileLayout): ProfileState {
  const state = {
    layout,
    doubles: new Float64Array(PROFILE_DOUBLES.count),
    doubleStart: 0,
    floats: new Float32Array(PROFILE_FLOATS.count),
    floatStart: 0,
    halves: new Float16Array(layout.halves),
    halfStart: 0,
  };
  startProfile(state);
  return state;
}

/** The same profile in arrays of its own. */
export function keptProfile(state: ProfileState): ProfileState {
  const { layout, doubles, doubleStart, floats, floatStart, halves, halfStart } = state;
  return {
    layout,
    doubles: doubles.slice(doubleStart, doubleStart + PROFILE_DOUBLES.count),
    doubleStart: 0,
    floats: floats.slice(floatStart, floatStart + PROFILE_FLOATS.count),
    floatStart: 0,
    halves: halves.slice(halfStart, halfStart + layout.halves),
    halfStart: 0,
  };
}

/** Event time of the first value that a profile has seen; NaN before it. */
export function profileSinceMs({ doubles, doubleStart }: ProfileState): number {
  return doubles[doubleStart + PROFILE_DOUBLES.at.firstMs];
}

export function hasProfile(state: ProfileState): boolean {
  return !Number.isNaN(profileSinceMs(state));
}

/**
 * Copies what another profile has learned. Where their clocks differ its hours move with them, as the
 * clocks differ at `atMs`. Returns false, and takes nothing, where their slots are not equally long.
 */
export function continueProfile(from: ProfileState, to: ProfileState, atMs: number): boolean {
  const { daySlots, slotMs, places } = to.layout;
  if (from.layout.daySlots !== daySlots) return false;
  const { doubles, floats, halves } = keptProfile(from);
  to.doubles.set(doubles, to.doubleStart);
  to.floats.set(floats, to.floatStart);
  const later = Math.round((offsetAt(to.layout.calendar, atMs) - offsetAt(from.layout.calendar, atMs)) / slotMs);
  const rotate = (start: number, count: number) => {
    for (let slot = 0; slot < count; slot++) {
      const moved = (((slot + later) % count) + count) % count;
      to.halves[to.halfStart + start + moved] = halves[start + slot];
    }
  };
  rotate(places.day, daySlots);
  rotate(places.week, WEEK_DAYS * daySlots);
  rotate(places.spread, daySlots);
  rotate(places.share, daySlots);
  to.doubles[to.doubleStart + PROFILE_DOUBLES.at.slot] += later;
  to.floats[to.floatStart + PROFILE_FLOATS.at.closed] = CLOSED_MORE;
  if (later !== 0) forgetToday(to);
  return true;
}

/** Forgets the slots of today. */
export function forgetToday({ floats, floatStart: f }: ProfileState): void {
  floats[f + PROFILE_FLOATS.at.todaySlots] = 0;
  floats[f + PROFILE_FLOATS.at.todayExpected] = 0;
  floats[f + PROFILE_FLOATS.at.todayError] = 0;
}
