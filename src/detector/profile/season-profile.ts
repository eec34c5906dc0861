import { offsetAt, weekdayOf } from '../../calendar/local-calendar.ts';
import {
  CLOSED_MORE,
  PROFILE_DOUBLES,
  PROFILE_FLOATS,
  type ProfileLayout,
  type ProfileState,
} from './profile-layout.ts';

const { origin: ORIGIN, unit: UNIT, firstMs: FIRST_MS, slot: SLOT, sum: SUM } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

/** Candidates of what a slot will show: the usual day, the usual week, both at the present level, the mean. */
const DAY = 0;
const WEEK = 1;
const DAY_AT_LEVEL = 2;
const WEEK_AT_LEVEL = 3;
export const MEAN = 4;
const LAST = 5;

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
/** A candidate is chosen once it was measured by this share of a day. */
const KNOWN_DAYS = 0.5;
/** A candidate explains the values of slots where this share of their variance is left, or less. */
const UNEXPLAINED_MAX = 0.4;
/** The first distance from the origin is so many units, or up to twice as many. */
const UNIT_FIRST = 16;
/** Half of the largest number that 16 bits hold. */
const HALF_MAX = 32_768;
/** What lies farther from the origin, in units, counts as this far. */
const DISTANCE_MAX = 1e9;

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
    doubles[d + SLOT] = slot;
  }
  return localMs / layout.slotMs - slot - 0.5;
}

/** A value as a distance from the origin in units of the profile. */
export function distanceOf(state: ProfileState, value: number): number {
  const distance = (value - state.doubles[state.doubleStart + ORIGIN]) / unitOf(state);
  return Math.max(-DISTANCE_MAX, Math.min(distance, DISTANCE_MAX));
}

/** The value at a distance. */
export function valueAt(state: ProfileState, distance: number): number {
  return state.doubles[state.doubleStart + ORIGIN] + distance * unitOf(state);
}

/** The unit of the profile; until a slot lies off the origin any will do. */
export function unitOf({ doubles, doubleStart: d }: ProfileState): number {
  return doubles[d + UNIT] === 0 ? 1 : doubles[d + UNIT];
}

/** The candidate with the smallest error so far; the mean where none is known. */
export function bestCandidate({ floats, floatStart: f, layout }: ProfileState): number {
  let best = MEAN;
  for (let candidate = DAY; candidate < MEAN; candidate++) {
    const slots = floats[f + (candidate % 2 === DAY ? F.daySlots : F.weekSlots)];
    if (slots < KNOWN_DAYS * layout.daySlots) continue;
    if (best === MEAN || floats[f + F.errors + candidate] < floats[f + F.errors + best]) best = candidate;
  }
  return best;
}

/**
 * Whether a candidate tells far more of a slot than the mean does, and more than the slot before: a random walk, or a
 * trend, is no season.
 */
export function explains({ floats, floatStart: f }: ProfileState, candidate: number): boolean {
  const error = floats[f + F.errors + candidate];
  return error < UNEXPLAINED_MAX * floats[f + F.errors + MEAN] && error < floats[f + F.errors + LAST];
}

/**
 * What a candidate expects at a place in the open slot: its slots count for their middles, and lines lie between.
 * NaN where it knows nothing of the slot.
 */
export function expectedDistance(state: ProfileState, candidate: number, place: number): number {
  const { layout, doubles, doubleStart: d } = state;
  const slot = doubles[d + SLOT];
  const own = slotDistance(state, candidate, slot);
  if (layout.slotMs <= layout.stepMs || place === 0) return own;
  const next = slotDistance(state, candidate, place > 0 ? slot + 1 : slot - 1);
  return Number.isNaN(next) ? own : own + Math.abs(place) * (next - own);
}

function slotDistance(
  { layout, floats, floatStart: f, halves, halfStart }: ProfileState,
  candidate: number,
  slot: number,
) {
  const { places } = layout;
  if (candidate === MEAN) return floats[f + F.mean];
  const level =
    candidate === DAY_AT_LEVEL ? floats[f + F.dayLevel] : candidate === WEEK_AT_LEVEL ? floats[f + F.weekLevel] : 0;
  const at = candidate % 2 === DAY ? places.day + hourOf(layout, slot) : places.week + weekSlotOf(layout, slot);
  return halves[halfStart + at] + level;
}

/** The time of the day of a slot. */
export function hourOf({ daySlots }: ProfileLayout, slot: number): number {
  return slot - Math.floor(slot / daySlots) * daySlots;
}

/** The time of the week of a slot; a special day is another weekday than its own. */
function weekSlotOf({ daySlots, weekdayOfSpecial }: ProfileLayout, slot: number): number {
  const day = Math.floor(slot / daySlots);
  const special = weekdayOfSpecial.size === 0 ? undefined : weekdayOfSpecial.get(day);
  return (special ?? weekdayOf(day)) * daySlots + slot - day * daySlots;
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

const LENGTHS = [F.recent, F.dayLevel, F.weekLevel, F.mean, F.last];
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
