import { offsetAt } from '../../calendar/local-calendar.ts';
import { CLOSED_MORE, PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileState } from './profile-layout.ts';
import {
  bestCandidate,
  DAY,
  DAY_AT_LEVEL,
  hourOf,
  LAST,
  MEAN,
  WEEK,
  WEEK_AT_LEVEL,
  weekSlotOf,
} from './season-candidates.ts';
import { addToDay, passDay } from './whole-day.ts';

const { origin: ORIGIN, unit: UNIT, firstMs: FIRST_MS, slot: SLOT, sum: SUM } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

const ERROR_RATE_MIN = 0.01;
const DAY_RATE = 0.25;
const WEEK_RATE = 0.4;
const LEVEL_RATE = 1 / 48;
const MEAN_RATE_MIN = 0.003;
const HOUR_SPREAD_RATE = 0.15;
const SPREAD_RATE_MIN = 0.005;
const SHARE_RATE = 0.2;
/** An error counts up to so many times its scale, from so many slots on. */
const CLIP = 4;
const CLIP_SLOTS = 8;
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
  const shown = fitUnit(state, mean);
  const candidate = bestCandidate(state);
  if (candidate !== MEAN) addToDay(state, candidate, shown);
  const slot = doubles[d + SLOT];
  const slots = ++floats[f + F.slots];
  const dayAt = halfStart + layout.places.day + hourOf(layout, slot);
  const weekAt = halfStart + layout.places.week + weekSlotOf(layout, slot);
  const [day, week] = [halves[dayAt], halves[weekAt]];
  if (!Number.isNaN(day)) {
    const measured = ++floats[f + F.daySlots];
    measure(state, DAY, shown - day, measured);
    measure(state, DAY_AT_LEVEL, shown - day - floats[f + F.dayLevel], measured);
  }
  if (!Number.isNaN(week)) {
    const measured = ++floats[f + F.weekSlots];
    measure(state, WEEK, shown - week, measured);
    measure(state, WEEK_AT_LEVEL, shown - week - floats[f + F.weekLevel], measured);
  }
  if (slots > 1) {
    measure(state, MEAN, shown - floats[f + F.mean], slots - 1);
    measure(state, LAST, shown - floats[f + F.last], slots - 1);
  }
  if (Number.isNaN(day)) halves[dayAt] = shown;
  else {
    const error = clipped(state, DAY, shown - day, floats[f + F.daySlots]);
    floats[f + F.dayLevel] += LEVEL_RATE * (error - floats[f + F.dayLevel]);
    halves[dayAt] = day + DAY_RATE * error;
  }
  if (Number.isNaN(week)) halves[weekAt] = shown;
  else {
    const error = clipped(state, WEEK, shown - week, floats[f + F.weekSlots]);
    floats[f + F.weekLevel] += LEVEL_RATE * (error - floats[f + F.weekLevel]);
    halves[weekAt] = week + WEEK_RATE * error;
  }
  const error = clipped(state, MEAN, shown - floats[f + F.mean], slots - 1);
  floats[f + F.last] = shown;
  floats[f + F.mean] += Math.max(MEAN_RATE_MIN, 1 / slots) * error;
}

function measure({ floats, floatStart: f }: ProfileState, candidate: number, error: number, measured: number): void {
  const at = f + F.errors + candidate;
  const square = measured > CLIP_SLOTS ? Math.min(error * error, CLIP * CLIP * floats[at]) : error * error;
  floats[at] += Math.max(ERROR_RATE_MIN, 1 / measured) * (square - floats[at]);
}

function clipped({ floats, floatStart: f }: ProfileState, candidate: number, error: number, measured: number): number {
  if (measured <= CLIP_SLOTS) return error;
  const most = CLIP * Math.sqrt(floats[f + F.errors + candidate]);
  return Math.max(-most, Math.min(error, most));
}

function learnSpread(state: ProfileState): void {
  const { layout, doubles, doubleStart: d, floats, floatStart: f, halves, halfStart } = state;
  const rows = floats[f + F.expectedRows];
  const hour = hourOf(layout, doubles[d + SLOT]);
  // In the first week weekends are judged by weekdays: such errors would hide others for weeks.
  if (floats[f + F.weekSlots] >= layout.daySlots) learnDeviation(state, hour, floats[f + F.squares] / rows);
  const shareAt = halfStart + layout.places.share + hour;
  const share = floats[f + F.zSquares] / rows;
  halves[shareAt] = Number.isNaN(halves[shareAt]) ? share : halves[shareAt] + SHARE_RATE * (share - halves[shareAt]);
  floats[f + F.hourShare] = meanShare(halves, halfStart + layout.places.share, layout.daySlots);
}

/** @param shown mean square of how far values lie from the profile lately, of one slot */
function learnDeviation(
  { layout, floats, floatStart: f, halves, halfStart }: ProfileState,
  hour: number,
  shown: number,
) {
  const slots = ++floats[f + F.spreadSlots];
  const square = slots > CLIP_SLOTS ? Math.min(shown, CLIP * CLIP * floats[f + F.spread]) : shown;
  floats[f + F.spread] += Math.max(SPREAD_RATE_MIN, 1 / slots) * (square - floats[f + F.spread]);
  const at = halfStart + layout.places.spread + hour;
  const before = halves[at] * halves[at];
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
