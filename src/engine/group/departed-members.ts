import type { DepartedMember, GroupState, Member } from '../../checkpoint/group-state.ts';
import type { StreamDetectionSettings } from '../../detection/calibration/settings.ts';
import {
  continueProfile,
  emptyProfile,
  type ProfileLayout,
  profileSinceMs,
} from '../../detection/profile/profile-layout.ts';
import type { SeriesDetector } from '../../detection/series/series-detector.ts';
import { gridTime } from '../../time/frequency.ts';
import { learn, learnedOf } from '../unit/learned-profile.ts';

type Departed = GroupState['departed'];

/** A member leaves: what it has learned is kept until it returns. */
export function depart(
  { departed, originMs }: Pick<GroupState, 'departed' | 'originMs'>,
  { series, newest, detector }: Member,
  { freq }: StreamDetectionSettings,
): void {
  const profile = learnedOf(detector);
  if (profile !== null) departed.set(series, { profile, atMs: gridTime(freq, originMs, newest) });
}

/** A series joins: where it was a member before, its seasonal profile continues. */
export function rejoin(departed: Departed, series: string, detector: SeriesDetector): void {
  const known = departed.get(series);
  departed.delete(series);
  if (known !== undefined) learn(detector, known.profile, known.atMs);
}

/**
 * Forgets those that are away for longer than they had learned, or than `idleMs`. So a group whose members come and go
 * remembers about as many as it has.
 */
export function forgetDeparted(departed: Departed, nowMs: number, { idleMs }: StreamDetectionSettings): void {
  for (const [series, { profile, atMs }] of departed) {
    const keptMs = Math.min(idleMs ?? Number.POSITIVE_INFINITY, atMs - profileSinceMs(profile));
    if (nowMs - atMs > keptMs) departed.delete(series);
  }
}

/** The same for a group under other settings; none where these have no seasonal profile. */
export function continuedDeparted(departed: Departed, layout: ProfileLayout | null): Map<string, DepartedMember> {
  const continued = new Map<string, DepartedMember>();
  if (layout === null) return continued;
  for (const [series, known] of departed) {
    const profile = emptyProfile(layout);
    if (continueProfile(known.profile, profile, known.atMs)) continued.set(series, { ...known, profile });
  }
  return continued;
}
