import type { PartitionSession } from '../log/log.ts';
import type { Resume } from './state/resume-position.ts';
import type { StreamEvents } from './stream-events.ts';

/** Reports where a partition does not simply continue at its committed offset. */
export function reportResume(
  events: StreamEvents,
  { partition, committedOffset }: PartitionSession,
  { from, offset, skipped, stale }: Resume & { readonly stale: number },
): void {
  if (from === 'committed' && skipped !== null) events.recordsSkipped(partition, skipped);
  if (from === 'state') events.resumedFromState(partition, { offset: offset ?? 0, committedOffset });
  if (from === 'start-over') events.topicRecreated(partition, stale);
  else if (stale > 0) events.settingsChanged(partition, stale);
}
