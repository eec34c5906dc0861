import { instantOf } from '../../time/local-calendar.ts';
import type { SeasonAlarm } from '../alarm/alarm.ts';
import { forgetToday, PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileState } from './profile-layout.ts';
import { bestCandidate, slotDistance, slotError, unitOf, valueAt } from './season-candidates.ts';

const { slot: SLOT } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

const DAY_MS = 86_400_000;
/** Added to the slots of today once an alarm has reported today. */
const REPORTED = 32;
/**
 * Added on the day behind it, which no alarm reports: the profile has followed the reported day, so that
 * the next one would be an alarm the other way.
 */
const BEHIND_REPORTED = 2 * REPORTED;
/** A day is whole with this share of its slots. */
const WHOLE_SHARE = 0.75;
/** Days are learned from once weekdays are known: after the week was measured by so many. */
const WEEK_DAYS_KNOWN = 1.5;
/** They are reported after so many. From then on a square counts up to CLIP * CLIP times the mean of those before. */
const DAYS_MIN = 4;
const CLIP = 4;
const RATE_MIN = 0.02;
/** Bounds the share if next to nothing is expected of a day. */
const SHARE_MAX = 1e6;

/** Today compared with what is usual, as far as its slots have closed. */
export interface DayVerdict {
  /** Deviations by which the sum of its errors lies off 0: those of whole days. */
  readonly unusual: number;
  /** Means of the slots so far: of what was expected and of what was shown, and how far the second deviates. */
  readonly expected: number;
  readonly shown: number;
  readonly deviation: number;
}

/**
 * Tracks a slot of today, before it is learned from.
 * @param shown the mean of its values, as a distance
 */
export function addToDay(state: ProfileState, candidate: number, shown: number): void {
  const { doubles, doubleStart: d, floats, floatStart: f } = state;
  const expected = slotDistance(state, candidate, doubles[d + SLOT]);
  if (Number.isNaN(expected)) return;
  floats[f + F.todaySlots]++;
  floats[f + F.todayExpected] += expected;
  floats[f + F.todayError] += slotError(state, expected, shown);
}

/** Moves on from the slot that closed to the next one, perhaps of another day. */
export function passDay(state: ProfileState, next: number): void {
  const { layout, doubles, doubleStart: d, floats, floatStart: f } = state;
  // The alarm of the season is about values of today.
  if (floats[f + F.unarmed] > 0) markReported(state);
  if (dayOf(layout.daySlots, next) === dayOf(layout.daySlots, doubles[d + SLOT])) return;
  learnDay(state);
  const wasReported = isReported(floats[f + F.todaySlots]);
  forgetToday(state);
  if (wasReported) floats[f + F.todaySlots] = BEHIND_REPORTED;
}

/** Ends the reporting of today. */
export function markReported({ floats, floatStart: f }: ProfileState): void {
  if (!isReported(floats[f + F.todaySlots])) floats[f + F.todaySlots] += REPORTED;
}

function isReported(slots: number): boolean {
  return (slots & REPORTED) > 0;
}

/**
 * Looks at today as a slot of it closes; null if no day is known, or an alarm has reported today.
 * @param floor smallest deviation of a slot, in units of the series
 */
export function dayVerdict(state: ProfileState, candidate: number, floor: number): DayVerdict | null {
  const { layout, floats, floatStart: f } = state;
  const slots = floats[f + F.todaySlots];
  if (slots === 0 || slots >= REPORTED || floats[f + F.days] < DAYS_MIN) return null;
  const error = floats[f + F.todayError] * unitOf(state);
  const smallest = floor * layout.daySlots;
  const deviation = Math.max(Math.sqrt(floats[f + F.daySquare]) * volumeOf(state, candidate), smallest);
  if (!(deviation > 0)) return null;
  const expected = valueAt(state, floats[f + F.todayExpected] / slots);
  return {
    unusual: Math.abs(error) / deviation,
    expected,
    shown: expected + error / slots,
    deviation: deviation / slots,
  };
}

/** The season of an alarm of today, for its event. */
export function dayAlarm(
  { layout: { calendar, slotMs, daySlots }, doubles, doubleStart: d }: ProfileState,
  { expected, shown, deviation }: DayVerdict,
  timestampMs: number,
): SeasonAlarm {
  const slot = doubles[d + SLOT];
  const today = dayOf(daySlots, slot);
  const day = {
    agoMs: timestampMs - instantOf(calendar, today * DAY_MS),
    leftMs: instantOf(calendar, (today + 1) * DAY_MS) - timestampMs,
  };
  return { expected, deviation, recentMean: shown, raised: true, localMs: slot * slotMs, day };
}

/** Learns how far the whole day lay off what was expected, as a share of that. */
function learnDay(state: ProfileState): void {
  const { layout, floats, floatStart: f } = state;
  if (floats[f + F.todaySlots] % REPORTED < WHOLE_SHARE * layout.daySlots) return;
  if (floats[f + F.weekSlots] < WEEK_DAYS_KNOWN * layout.daySlots) return;
  const share = Math.abs(floats[f + F.todayError] * unitOf(state)) / volumeOf(state, bestCandidate(state));
  if (!Number.isFinite(share)) return;
  const days = ++floats[f + F.days];
  const square = Math.min(share, SHARE_MAX) ** 2;
  const most = days > DAYS_MIN ? CLIP * CLIP * floats[f + F.daySquare] : square;
  floats[f + F.daySquare] += Math.max(RATE_MIN, 1 / days) * (Math.min(square, most) - floats[f + F.daySquare]);
}

/** Sum of what is expected of all slots of the day of the open slot, as magnitudes. */
function volumeOf(state: ProfileState, candidate: number): number {
  const { daySlots } = state.layout;
  const first = dayOf(daySlots, state.doubles[state.doubleStart + SLOT]) * daySlots;
  let volume = 0;
  for (let slot = first; slot < first + daySlots; slot++) {
    const expected = Math.abs(valueAt(state, slotDistance(state, candidate, slot)));
    if (!Number.isNaN(expected)) volume += expected;
  }
  return volume;
}

function dayOf(daySlots: number, slot: number): number {
  return Math.floor(slot / daySlots);
}
