import type { Freshness } from '../../api/wire/schema/operations/freshness-schema.ts';

/** The newest answer about freshness, from which every page has its time. */
export interface PageClock {
  readonly freshness: Freshness;
  /** Time of receipt, by the clock of the browser. */
  readonly receivedMs: number;
  /** Later requests failed, so the state of the stream is unknown. */
  readonly isLost?: boolean;
}

/**
 * The present in event time: the newest observation, and as much as has passed since it was stored. It stops
 * while nothing is read or scored, and does not depend on when a page was opened. Without a score it is the clock.
 */
export function pageNow({ freshness, receivedMs, isLost = false }: PageClock, wallMs: number): number {
  const { at, newest, stored_at: storedAt, problem, workers } = freshness;
  const serviceNow = isLost ? at : at + wallMs - receivedMs;
  if (newest === null || storedAt === null) return serviceNow;
  const stalledSince = workers?.stalled_since ?? Number.POSITIVE_INFINITY;
  const isStopped = problem?.due != null || workers === null || workers.members === 0;
  const until = isStopped ? storedAt : Math.min(serviceNow, problem?.since ?? serviceNow, stalledSince);
  // Event time may be ahead of the clock, or far behind it if a past is replayed.
  return Math.max(newest, Math.min(serviceNow, newest + Math.max(0, until - storedAt)));
}
