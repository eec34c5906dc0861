import { continueProfile, hasProfile, keptProfile, type ProfileState } from '../../detection/profile/profile-layout.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';

/** A copy of what the seasonal profile of a series has learned; null for nothing. */
export function learnedOf({ rings: { profile } }: SeriesDetector): ProfileState | null {
  return profile !== null && hasProfile(profile) ? keptProfile(profile) : null;
}

/** A seasonal profile continues with what was learned elsewhere, up to `atMs`. */
export function learn({ rings: { profile } }: SeriesDetector, learned: ProfileState | null, atMs: number): void {
  if (learned !== null && profile !== null) continueProfile(learned, profile, atMs);
}
