import type { InputRecord, SkippedRange } from '../../log/log.ts';
import type { PartitionState } from '../state/partition-state.ts';
import type { PendingCommit } from './pending-commit.ts';
import { whySkipped } from './score-records.ts';

/** Kafka's value for a record without a timestamp. */
const NO_TIMESTAMP = -1;

/** Stands for offsets that cannot be read any more, where reading continues at `nextOffset`. */
export function skippedRecord(partition: number, nextOffset: number, skipped: SkippedRange): InputRecord {
  return { partition, offset: nextOffset - 1, timestampMs: NO_TIMESTAMP, key: null, value: null, skipped };
}

/**
 * Commits that the state starts over, and with a dead letter why. The open states keep only their keys, so that each
 * series says so when it returns, also after further restores.
 */
export function startOver(state: PartitionState, pending: PendingCommit, record: InputRecord): void {
  for (const stale of state.stale.values()) pending.touched(stale);
  if (record.skipped !== undefined) pending.deadLetter(record, whySkipped(record.skipped));
  pending.consumed([record]);
}
