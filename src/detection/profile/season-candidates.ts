import { weekdayOf } from '../../time/local-calendar.ts';
import { PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileLayout, type ProfileState } from './profile-layout.ts';

const { origin: ORIGIN, unit: UNIT, slot: SLOT } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

/** Candidates of what a slot will show: the usual day, the usual week, both at the present level, the mean. */
export const DAY = 0;
export const WEEK = 1;
export const DAY_AT_LEVEL = 2;
export const WEEK_AT_LEVEL = 3;
export const MEAN = 4;
export const LAST = 5;

/** A candidate is chosen once it was measured by this share of a day. */
const KNOWN_DAYS = 0.5;
/** A candidate explains the values of slots where this share of their variance is left, or less. */
const UNEXPLAINED_MAX = 0.4;
/** A slot that lies off the mean varies by its own size: within this share of that it is typical. */
export const ROOM_SHARE = 0.25;
/** A job that ends within a slot is part of its mean: so much of the difference of the slots next to it, or more. */
const MIXED_SHARE = 1 / 8;
/** Root mean square distances from the mean beyond which a slot is extreme. */
const EXTREME = 3;
/** A square far beyond those before teaches this share of itself. */
const ATYPICAL_SHARE = 1 / 256;
/** Largest distance from the origin, in units. */
const DISTANCE_MAX = 1e9;

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
 * True if a candidate errs far less than the mean does, and less than the slot before: a random walk, or a
 * trend, is no season.
 */
export function explains({ floats, floatStart: f }: ProfileState, candidate: number): boolean {
  const error = floats[f + F.errors + candidate];
  return error < UNEXPLAINED_MAX * floats[f + F.errors + MEAN] && error < floats[f + F.errors + LAST];
}

/**
 * What a candidate expects of a value at a place in the open slot: between the middles of slots lie lines, but at the
 * edge of a job, or of a weekend, values stay where they are until it comes. So of the slot's own level, the line
 * (where a job ends: the level on that side) and all between them the nearest. NaN where it knows nothing of the slot.
 */
export function expectedDistance(
  state: ProfileState,
  candidate: number,
  { place, distance }: { readonly place: number; readonly distance: number },
): number {
  const { layout, doubles, doubleStart: d } = state;
  const slot = doubles[d + SLOT];
  const own = slotDistance(state, candidate, slot);
  const room = roomOfExtreme(state, own);
  if (layout.slotMs <= layout.stepMs || place === 0) return nearest(distance, own - room, own + room);
  const next = slotDistance(state, candidate, place > 0 ? slot + 1 : slot - 1);
  if (Number.isNaN(next)) return nearest(distance, own - room, own + room);
  const line = own + Math.abs(place) * (next - own);
  const other = slotDistance(state, candidate, place > 0 ? slot - 1 : slot + 1);
  const reach = roomOfExtreme(state, next);
  const isMixed =
    (reach > 0 || roomOfExtreme(state, other) > 0) &&
    Math.abs(own - (reach > 0 ? other : next)) > MIXED_SHARE * Math.abs(next - other);
  const [low, high] = isMixed ? [next - reach, next + reach] : [line, line];
  return nearest(distance, Math.min(own - room, low), Math.max(own + room, high));
}

function nearest(distance: number, least: number, most: number): number {
  return Math.max(least, Math.min(distance, most));
}

/**
 * Distance of values from their slot without an error, if it is an extreme of the profile, as a weekly job is: it
 * varies by its own size, of which other slots know nothing.
 */
function roomOfExtreme({ floats, floatStart: f }: ProfileState, expected: number): number {
  const size = Math.abs(expected - floats[f + F.mean]);
  const beyond = size - EXTREME * Math.sqrt(floats[f + F.errors + MEAN]);
  return ROOM_SHARE * Math.max(0, Math.min(size, 2 * beyond));
}

/** Distance of a slot from what is expected of it. */
export function slotError(state: ProfileState, expected: number, shown: number): number {
  const room = roomOfExtreme(state, expected);
  return shown - nearest(shown, expected - room, expected + room);
}

/** Expectation of a candidate for a slot; NaN if it has none. */
export function slotDistance(
  { layout, floats, floatStart: f, halves, halfStart }: ProfileState,
  candidate: number,
  slot: number,
): number {
  const { places } = layout;
  if (candidate === MEAN) return floats[f + F.mean];
  const level =
    candidate === DAY_AT_LEVEL ? floats[f + F.dayLevel] : candidate === WEEK_AT_LEVEL ? floats[f + F.weekLevel] : 0;
  const at = candidate % 2 === DAY ? places.day + hourOf(layout, slot) : places.week + weekSlotOf(layout, slot);
  return halves[halfStart + at] + level;
}

/**
 * True if a candidate expects exactly the same of the open slot and of both next to it: they have not varied so far.
 */
export function isFlatStretch(state: ProfileState, candidate: number): boolean {
  const slot = state.doubles[state.doubleStart + SLOT];
  const expected = slotDistance(state, candidate, slot);
  return expected === slotDistance(state, candidate, slot - 1) && expected === slotDistance(state, candidate, slot + 1);
}

/** The time of the day of a slot. */
export function hourOf({ daySlots }: ProfileLayout, slot: number): number {
  return slot - Math.floor(slot / daySlots) * daySlots;
}

/** The time of the week of a slot; a special day is another weekday than its own. */
export function weekSlotOf({ daySlots, weekdayOfSpecial }: ProfileLayout, slot: number): number {
  const day = Math.floor(slot / daySlots);
  const special = weekdayOfSpecial.size === 0 ? undefined : weekdayOfSpecial.get(day);
  return (special ?? weekdayOf(day)) * daySlots + slot - day * daySlots;
}

/**
 * What a square far beyond those before teaches at most: a share of itself, so that a new kind of day is learned within
 * days, and never more than the mean square error of the mean: one glitch is no reason to expect others.
 */
export function atypicalSquare(errorOfMean: number, square: number): number {
  const share = square * ATYPICAL_SHARE;
  return errorOfMean > 0 ? Math.min(share, errorOfMean) : share;
}
