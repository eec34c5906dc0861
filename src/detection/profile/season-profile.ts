import { offsetAt } from '../../time/local-calendar.ts';
import { trackLevel } from './level-factor.ts';
import { CLOSED_MORE, PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileState } from './profile-layout.ts';
import {
  atypicalSquare,
  bestCandidate,
  DAY,
  DAY_AT_LEVEL,
  hourOf,
  LAST,
  MEAN,
  ROOM_SHARE,
  slotDistance,
  WEEK,
  WEEK_AT_LEVEL,
  weekSlotOf,
} from './season-candidates.ts';
import { addToDay, passDay } from './whole-day.ts';

const { origin: ORIGIN, unit: UNIT, firstMs: FIRST_MS, slot: SLOT, sum: SUM } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

/** Errors of candidates are means over so many days. */
const ERROR_DAYS = 14;
const DAY_RATE = 0.25;
const WEEK_RATE = 0.4;
const LEVEL_RATE = 1 / 48;
const MEAN_RATE_MIN = 0.003;
const HOUR_SPREAD_RATE = 0.15;
const SPREAD_RATE_MIN = 0.005;
const SHARE_RATE = 0.2;
/** Beyond so many times its usual error, from so many slots on, a slot is atypical. */
const CLIP = 4;
const CLIP_SLOTS = 8;
/**
 * An error within so many deviations of its hour recurs: one day of it leaves at most .39 of its size in the deviation,
 * or 1.55 usual errors, while an atypical error has more than CLIP. It teaches this share of itself.
 */
const RECURRING = 2.5;
const RECURRING_RATE = 0.8;
/** Candidates whose mean square error is at most so many times that of the best one are comparable. */
const COMPARABLE = 4;
/** An atypical slot counts up to so many times the mean square error, or what `atypicalSquare` allows. */
const ATYPICAL = 4;
/** The same of the mean itself. */
const ATYPICAL_MEAN = 64;
/** The first distance from the origin is so many units, or up to twice as many. */
const UNIT_FIRST = 16;
/** Half of the largest number that 16 bits hold. */
const HALF_MAX = 32_768;

/** Moves on to the slot of a value. Returns the place of its time step from the middle of the slot, in slots. */
export function enterSlot(state: ProfileState, timestampMs: number, value: number): number {
  const { doubles, doubleStart: d, floats, floatStart: f, layout } = state;
  // By the middle of the time step, so that clocks that are a little off move no value to another slot.
  const localMs = timestampMs + offsetAt(layout.calendar, timestampMs) + layout.stepMs / 2;
  const slot = Math.floor(localMs / layout.slotMs);
  if (Number.isNaN(doubles[d + FIRST_MS])) {
    doubles[d + FIRST_MS] = timestampMs;
    doubles[d + ORIGIN] = value;
    doubles[d + SLOT] = slot;
    floats[f + F.closed] = CLOSED_MORE;
  } else if (slot !== doubles[d + SLOT]) {
    closeSlot(state);
    passDay(state, slot);
    doubles[d + SLOT] = slot;
  }
  return localMs / layout.slotMs - slot - 0.5;
}

/** Learns from the slot that ends, where it has enough values, and empties it. */
function closeSlot(state: ProfileState): void {
  const { layout, doubles, doubleStart: d, floats, floatStart: f } = state;
  if (floats[f + F.rows] >= layout.rowsMin) {
    const mean = doubles[d + SUM] / floats[f + F.rows];
    if (floats[f + F.slots] === 0) doubles[d + ORIGIN] += mean;
    learnLevel(state, floats[f + F.slots] === 0 ? 0 : mean);
  }
  if (floats[f + F.expectedRows] >= layout.rowsMin) learnSpread(state);
  doubles[d + SUM] = 0;
  floats[f + F.rows] = 0;
  floats[f + F.expectedRows] = 0;
  floats[f + F.squares] = 0;
  floats[f + F.zSquares] = 0;
  floats[f + F.closed] = Math.min(CLOSED_MORE, floats[f + F.closed] + 1);
  floats[f + F.closedSlot] = weekSlotOf(layout, doubles[d + SLOT]);
}

/** @param mean of the values of the slot, as a distance from the origin */
function learnLevel(state: ProfileState, mean: number): void {
  const { layout, doubles, doubleStart: d, floats, floatStart: f, halves, halfStart } = state;
  const seen = fitUnit(state, mean);
  const candidate = bestCandidate(state);
  // The first day at a level is unusual, and those behind it are not.
  const isSecondDay = floats[f + F.factorSlots] >= layout.daySlots;
  const shown = trackLevel(state, candidate, seen, (each) => isExpected(state, candidate, each));
  if (candidate !== MEAN) addToDay(state, candidate, isSecondDay ? shown : seen);
  const slot = doubles[d + SLOT];
  const slots = ++floats[f + F.slots];
  const dayAt = halfStart + layout.places.day + hourOf(layout, slot);
  const weekAt = halfStart + layout.places.week + weekSlotOf(layout, slot);
  const [day, week] = [halves[dayAt], halves[weekAt]];
  const isTypical = slots <= CLIP_SLOTS || isExpected(state, candidate, shown);
  // A schedule that changed is learned, however far its hours lie off now; of the level they show nothing.
  const recurring = RECURRING * halves[halfStart + layout.places.spread + hourOf(layout, slot)];
  const moveBy = (rate: number, error: number, taught: number) =>
    taught !== error && Math.abs(error) <= recurring ? RECURRING_RATE * error : rate * taught;
  const learn = (kind: number, expected: number, measured: number): number => {
    const error = shown - expected;
    const taught = taughtBy(state, kind, { error, expected, isTypical: isTypical || measured <= CLIP_SLOTS });
    measure(state, kind, error, { measured, isTypical });
    return taught;
  };
  if (Number.isNaN(day)) halves[dayAt] = shown;
  else {
    const measured = ++floats[f + F.daySlots];
    measure(state, DAY_AT_LEVEL, shown - day - floats[f + F.dayLevel], { measured, isTypical });
    const taught = learn(DAY, day, measured);
    floats[f + F.dayLevel] += LEVEL_RATE * (taught - floats[f + F.dayLevel]);
    halves[dayAt] = day + moveBy(DAY_RATE, shown - day, taught);
  }
  if (Number.isNaN(week)) halves[weekAt] = shown;
  else {
    const measured = ++floats[f + F.weekSlots];
    measure(state, WEEK_AT_LEVEL, shown - week - floats[f + F.weekLevel], { measured, isTypical });
    const taught = learn(WEEK, week, measured);
    floats[f + F.weekLevel] += LEVEL_RATE * (taught - floats[f + F.weekLevel]);
    halves[weekAt] = week + moveBy(WEEK_RATE, shown - week, taught);
  }
  if (slots > 1) measure(state, LAST, shown - floats[f + F.last], { measured: slots - 1, isTypical });
  const taught = slots > 1 ? learn(MEAN, floats[f + F.mean], slots - 1) : shown - floats[f + F.mean];
  floats[f + F.last] = shown;
  floats[f + F.mean] += Math.max(MEAN_RATE_MIN, 1 / slots) * taught;
}

/**
 * Whether a candidate expected what a slot shows, the best one or one that errs little more. In its first week a slot
 * is always typical.
 */
function isExpected(state: ProfileState, best: number, shown: number): boolean {
  const { floats, floatStart: f, doubles, doubleStart: d } = state;
  const slot = doubles[d + SLOT];
  if (Number.isNaN(slotDistance(state, WEEK, slot))) return true;
  for (let candidate = DAY; candidate < MEAN; candidate++) {
    if (floats[f + F.errors + candidate] > COMPARABLE * floats[f + F.errors + best]) continue;
    const expected = slotDistance(state, candidate, slot);
    if (Math.abs(shown - expected) <= roomOf(state, candidate, expected)) return true;
  }
  return false;
}

/** Distance from what a candidate expects within which a slot is typical. */
function roomOf({ floats, floatStart: f }: ProfileState, candidate: number, expected: number): number {
  const usual = CLIP * Math.sqrt(floats[f + F.errors + candidate]);
  return Math.max(usual, ROOM_SHARE * Math.abs(expected - floats[f + F.mean]));
}

/**
 * A typical slot counts in full, another one up to so many times the mean square error, or what
 * `atypicalSquare` allows.
 */
function measure(
  { layout, floats, floatStart: f }: ProfileState,
  candidate: number,
  error: number,
  { measured, isTypical }: { readonly measured: number; readonly isTypical: boolean },
): void {
  const at = f + F.errors + candidate;
  const square = error * error;
  const times = candidate === MEAN ? ATYPICAL_MEAN : ATYPICAL;
  const beyond = Math.max(times * floats[at], atypicalSquare(floats[f + F.errors + MEAN], square));
  const most = isTypical ? square : beyond;
  floats[at] += Math.max(1 / (ERROR_DAYS * layout.daySlots), 1 / measured) * (Math.min(square, most) - floats[at]);
}

/**
 * The part of an error that is learned: an atypical one less the farther it lies out, down to one usual error. Nothing
 * while an alarm of the season reports it: two days of it would move the level of the next weekend.
 */
function taughtBy(
  state: ProfileState,
  candidate: number,
  { error, expected, isTypical }: { readonly error: number; readonly expected: number; readonly isTypical: boolean },
): number {
  const room = roomOf(state, candidate, expected);
  const size = Math.abs(error);
  if (size <= room || state.floats[state.floatStart + F.slots] <= CLIP_SLOTS) return error;
  const usual = Math.sqrt(state.floats[state.floatStart + F.errors + candidate]);
  if (isTypical) return Math.sign(error) * room;
  const isReported = state.floats[state.floatStart + F.unarmed] > 0;
  return isReported ? 0 : Math.sign(error) * Math.max(usual, (CLIP * usual * CLIP * usual) / size);
}

function learnSpread(state: ProfileState): void {
  const { layout, doubles, doubleStart: d, floats, floatStart: f, halves, halfStart } = state;
  const rows = floats[f + F.expectedRows];
  const hour = hourOf(layout, doubles[d + SLOT]);
  // In the first week weekends are judged by weekdays: such errors would hide others for weeks.
  const spread = floats[f + F.squares] / rows;
  if (floats[f + F.weekSlots] >= layout.daySlots) learnDeviation(state, hour, spread);
  const shareAt = halfStart + layout.places.share + hour;
  const share = floats[f + F.zSquares] / rows;
  halves[shareAt] = Number.isNaN(halves[shareAt]) ? share : halves[shareAt] + SHARE_RATE * (share - halves[shareAt]);
  floats[f + F.hourShare] = meanShare(halves, halfStart + layout.places.share, layout.daySlots);
}

/** @param shown mean square of how far values lie from the profile on the last rows */
function learnDeviation(state: ProfileState, hour: number, shown: number): void {
  const { layout, floats, floatStart: f, halves, halfStart } = state;
  const slots = ++floats[f + F.spreadSlots];
  const at = halfStart + layout.places.spread + hour;
  const before = halves[at] * halves[at];
  const scale = Math.max(floats[f + F.spread], before || 0, floats[f + F.errors + bestCandidate(state)]);
  const most = Math.max(CLIP * CLIP * scale, atypicalSquare(floats[f + F.errors + MEAN], shown));
  const square = slots > CLIP_SLOTS ? Math.min(shown, most) : shown;
  floats[f + F.spread] += Math.max(SPREAD_RATE_MIN, 1 / slots) * (square - floats[f + F.spread]);
  halves[at] = Math.sqrt(Number.isNaN(before) ? square : before + HOUR_SPREAD_RATE * (square - before));
}

function meanShare(halves: Float16Array, start: number, count: number): number {
  let [sum, known] = [0, 0];
  for (let at = start; at < start + count; at++) {
    if (Number.isNaN(halves[at])) continue;
    sum += halves[at];
    known++;
  }
  return sum / known;
}

/** The mean of a slot in units. Where 16 bits cannot hold it all numbers get a larger unit. */
function fitUnit(state: ProfileState, mean: number): number {
  const { doubles, doubleStart: d } = state;
  const size = Math.abs(mean);
  if (doubles[d + UNIT] === 0) {
    if (size === 0) return 0;
    doubles[d + UNIT] = 2 ** Math.floor(Math.log2(size)) / UNIT_FIRST;
  } else if (size > HALF_MAX * doubles[d + UNIT]) {
    rescale(state, doubles[d + UNIT] / (2 ** Math.floor(Math.log2(size)) / UNIT_FIRST));
  }
  return mean / doubles[d + UNIT];
}

const LENGTHS = [F.recent, F.dayLevel, F.weekLevel, F.mean, F.last, F.todayExpected, F.todayError];
const SQUARES = [F.squares, F.spread, F.distance, ...Array.from({ length: LAST + 1 }, (_, i) => F.errors + i)];

/** @param factor of all numbers; the unit becomes larger by its inverse */
function rescale(
  { layout, doubles, doubleStart: d, floats, floatStart: f, halves, halfStart }: ProfileState,
  factor: number,
): void {
  doubles[d + UNIT] /= factor;
  for (const at of LENGTHS) floats[f + at] *= factor;
  for (const at of SQUARES) floats[f + at] *= factor * factor;
  const share = halfStart + layout.places.share;
  for (let at = halfStart; at < halfStart + layout.halves; at++) {
    if (at < share || at >= share + layout.daySlots) halves[at] *= factor;
  }
  floats[f + F.closed] = CLOSED_MORE;
}
