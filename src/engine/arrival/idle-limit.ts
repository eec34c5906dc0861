import type { BoundDetector } from '../unit/bound-detector.ts';
import type { DetectionUnit } from '../unit/detection-unit.ts';
import { isStale, type StaleUnit } from './stale-unit.ts';

/** `idle_limit` of states that no detector takes any more. */
const IDLE_MS_UNWATCHED = 7 * 86_400_000;

/** `idle_limit` of a stale state, by the detector that takes it now. */
export function idleLimitOf(bound: BoundDetector | null): number | null {
  return bound === null ? IDLE_MS_UNWATCHED : bound.config.settings.idleMs;
}

/** Event time of the partition after which a unit, or a stale state, is forgotten. */
export function idleDeadline(unit: DetectionUnit | StaleUnit): number {
  const idleMs = isStale(unit) ? unit.idleMs : unit.bound.config.settings.idleMs;
  return Math.max(unit.arrivedMs, unit.heardMs) + (idleMs ?? Number.POSITIVE_INFINITY);
}
