import { PROFILE_DOUBLES, PROFILE_FLOATS, type ProfileState } from './profile-layout.ts';
import { distanceOf, explains, slotDistance, valueAt } from './season-candidates.ts';

const { slot: SLOT, origin: ORIGIN, unit: UNIT } = PROFILE_DOUBLES.at;
const F = PROFILE_FLOATS.at;

const WEEK_DAYS = 7;
/** From so many slots at a factor on, values of that level are as usual as those of the level before. */
const SHOWN_SLOTS = 12;
/** After so many days at a factor it is the level. A week at another level, such as a sale, may return. */
const SETTLED_DAYS = 8;
/** A slot that only the level before explains leaves this share of the slots that showed the factor. */
const BACK_SHARE = 0.75;
/** One that neither explains takes so many of them: an incident at the new level does not end that. */
const INCIDENT_SLOTS = 2;
/** Slots move the factor at least by this share. One in proportion to its size, up to so many times the mean. */
const FACTOR_RATE_MIN = 1 / 48;
const WEIGHT_MAX = 2;

/** The factor by which values may be above the profile for good; 1 if there is none. */
export function factorOf({ floats, floatStart: f }: ProfileState): number {
  return floats[f + F.factorSlots] < SHOWN_SLOTS ? 1 : floats[f + F.factor];
}

/**
 * Tracks whether values are at another level for good: a factor of all that the profile expects. For eight days both
 * levels are usual, so that a return is no incident; then the profile moves to the new one.
 * @param shown mean of the slot that ends, as a distance
 * @param fits whether the profile explains a distance of this slot
 * @returns the distance at the level that explains it better
 */
export function trackLevel(
  state: ProfileState,
  candidate: number,
  shown: number,
  fits: (distance: number) => boolean,
): number {
  const { layout, floats, floatStart: f, doubles, doubleStart: d } = state;
  const slots = floats[f + F.factorSlots];
  const fitsBefore = fits(shown);
  if (slots === 0 && fitsBefore) return shown;
  const expected = slotDistance(state, candidate, doubles[d + SLOT]);
  const ratio = valueAt(state, shown) / valueAt(state, expected);
  const factor = floats[f + F.factor];
  const at = slots === 0 ? shown : distanceOf(state, valueAt(state, shown) / factor);
  const fitsFactor = slots > 0 && fits(at);
  if (fitsFactor && !fitsBefore) {
    const weight = Math.min(WEIGHT_MAX, Math.abs(valueAt(state, expected) / valueAt(state, floats[f + F.mean])));
    const rate = Math.min(1, weight * Math.max(FACTOR_RATE_MIN, 1 / (slots + 1)));
    const moved = factor + rate * (ratio - factor);
    // A slot of which nothing was expected, as at night, shows no factor.
    setFactor(state, moved > 0 && Number.isFinite(moved) ? moved : factor, slots + 1);
  } else if (fitsFactor) setFactor(state, factor, slots < SHOWN_SLOTS ? slots : slots + 1);
  else if (fitsBefore) setFactor(state, factor, Math.floor(BACK_SHARE * slots));
  else if (slots > SHOWN_SLOTS) setFactor(state, factor, slots - INCIDENT_SLOTS);
  else {
    // Without a known season any level is as good as another one.
    const isKnown = floats[f + F.weekSlots] >= WEEK_DAYS * layout.daySlots && explains(state, candidate);
    setFactor(state, ratio, isKnown && ratio > 0 && Number.isFinite(ratio) ? 1 : 0);
  }
  if (floats[f + F.factorSlots] >= SETTLED_DAYS * layout.daySlots) {
    doubles[d + ORIGIN] *= factor;
    doubles[d + UNIT] *= factor;
    setFactor(state, factor, 0);
    return at;
  }
  return fitsFactor && Math.abs(at - expected) < Math.abs(shown - expected) ? at : shown;
}

function setFactor({ floats, floatStart: f }: ProfileState, factor: number, slots: number): void {
  floats[f + F.factor] = slots === 0 ? 0 : factor;
  floats[f + F.factorSlots] = slots;
}
