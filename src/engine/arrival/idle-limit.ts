import type { LoadedDetector } from '../unit/loaded-detector.ts';
import type { Scorable } from '../unit/scorable.ts';
import { isOutdated, type OutdatedState } from './outdated-state.ts';

const IDLE_MS_UNWATCHED = 7 * 86_400_000;

/** `idle_limit` of an outdated state, by the detector that takes it now. */
export function idleLimitOf(loaded: LoadedDetector | null): number | null {
  return loaded === null ? IDLE_MS_UNWATCHED : loaded.config.settings.idleMs;
}

/** Event time of the partition after which a unit, or an outdated state, is forgotten. */
export function idleDeadline(unit: Scorable | OutdatedState): number {
  const idleMs = isOutdated(unit) ? unit.idleMs : unit.loaded.config.settings.idleMs;
  return Math.max(unit.arrivedMs, unit.lastSeenMs) + (idleMs ?? Number.POSITIVE_INFINITY);
}
