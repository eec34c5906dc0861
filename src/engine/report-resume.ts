import type { EngineReports } from './engine-reports.ts';
import type { PartitionSession } from './log/log.ts';
import type { Resume } from './state/resume-position.ts';

/** Reports where a partition does not simply continue at its committed offset. */
export function reportResume(
  reports: EngineReports,
  { partition, committedOffset }: PartitionSession,
  { from, offset, skipped, stale }: Resume & { readonly stale: number },
): void {
  if (from === 'committed' && skipped !== null) reports.recordsSkipped(partition, skipped);
  if (from === 'state') reports.resumedFromState(partition, { offset: offset ?? 0, committedOffset });
  if (from === 'start-over') reports.topicRecreated(partition, stale);
  else if (stale > 0) reports.settingsChanged(partition, stale);
}
