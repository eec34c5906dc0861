import { closeOrphans } from '../state/orphan-events.ts';
import type { PartitionState } from '../state/partition-state.ts';
import { PARTITION_COUNT_KEY, type Restored } from '../state/restore-partition.ts';
import { type CommitFormat, PendingCommit } from './pending-commit.ts';
import { skippedRecord, startOver } from './start-over.ts';

export interface FirstCommitOptions extends CommitFormat {
  readonly partitionCount: number;
  readonly nowMs: () => number;
}

/** A restored partition, and the input offset that reading continues at. */
export interface RestoredState {
  readonly state: PartitionState;
  readonly restored: Restored;
  readonly offset: number;
}

/** The commit after a restore: with what the restore itself has to write. */
export function firstCommit(options: FirstCommitOptions, { state, restored, offset }: RestoredState): PendingCommit {
  const { partitionCount, place, nowMs } = options;
  const pending = new PendingCommit(options, nowMs, offset);
  if (restored.partitionCount === null) pending.writeState(PARTITION_COUNT_KEY, Buffer.from(String(partitionCount)));
  closeOrphans(state.stale.values(), pending);
  for (const { key, value } of restored.settingsChanges) pending.writeState(key, value);
  const { skipped } = restored.resume;
  if (skipped !== null) startOver(state, pending, skippedRecord(place.partition, offset, skipped));
  return pending;
}
