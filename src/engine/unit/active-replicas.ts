import type { ActiveReplicas } from '../../checkpoint/replica-state.ts';
import type { ReceivedObservation } from './received-observation.ts';

/** A replica is away when its newest point is further back than so many of the distances of its points. */
const AWAY_SPACINGS = 1.5;
/** The distance follows shorter ones by this factor a point: one long distance does not make two replicas alternate. */
const SPACING_DECAY = 0.9;

/**
 * Several replicas send the same series, and the points of one count at a time, by event time: those of another one
 * count once it is away, and from then on. null where a point is of one that does not count.
 * @param stepMs the longest distance, and the first one
 */
export function nextActiveReplicas(
  active: ActiveReplicas | null,
  { series, group, timestampMs, extras }: ReceivedObservation,
  stepMs: number,
): ActiveReplicas | null {
  const key = group === null ? '' : series;
  const { replica = '' } = extras ?? {};
  const current = active?.get(key) ?? { replica, newestMs: timestampMs, spacingMs: stepMs };
  const apartMs = timestampMs - current.newestMs;
  if (current.replica !== replica && !(apartMs > AWAY_SPACINGS * current.spacingMs)) return null;
  const isOwn = current.replica === replica && apartMs > 0;
  const spacingMs = isOwn ? Math.min(stepMs, Math.max(apartMs, current.spacingMs * SPACING_DECAY)) : current.spacingMs;
  const next = { replica, newestMs: Math.max(timestampMs, current.newestMs), spacingMs };
  return (active ?? new Map()).set(key, next);
}
