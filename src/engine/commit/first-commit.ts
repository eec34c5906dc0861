import type { OutdatedEntry } from '../../checkpoint/delta-log.ts';
import { conclude } from '../../detection/event/event-revision.ts';
import { recordOfSkipped } from '../../kafka/fetch/input-records.ts';
import type { PartitionState } from '../state/partition-state.ts';
import { PARTITION_COUNT_KEY, type Restored } from '../state/restore-partition.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { keyOf } from '../unit/unit-events.ts';
import { type CommitFormat, PendingCommit } from './pending-commit.ts';
import { whySkipped } from './score-records.ts';

/** Offset of outputs that no record caused: they precede all records. */
const BEFORE_RECORDS = -1;

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
  if (restored.partitionCount === null) pending.state.write(PARTITION_COUNT_KEY, Buffer.from(String(partitionCount)));
  closeOrphans(state.outdated.values(), pending);
  state.pauses.endAbandoned({ offset: BEFORE_RECORDS, sink: pending });
  for (const { key, value } of restored.settingsChanges) pending.state.write(key, value);
  const { skipped, from } = restored.resume;
  // The open states keep only their keys, so that each series reports it when it returns, also after further restores.
  if (from === 'start-over') for (const outdated of state.outdated.values()) pending.state.touched(outdated);
  if (skipped !== null) {
    const record = recordOfSkipped(place.partition, offset, skipped);
    pending.deadLetter(record, whySkipped(skipped));
    pending.consumed([record]);
  }
  return pending;
}

/**
 * Closes the events of states that cannot be continued, at the time of their last alarm. The next commit writes these
 * states without them.
 */
function closeOrphans(outdated: Iterable<OutdatedEntry>, sink: ScoreSink): void {
  for (const entry of outdated) {
    if (entry.orphan === null) continue;
    const { state, reason } = entry.orphan;
    for (const open of [state.open, state.silence]) {
      if (open === null || open.revision < 0) continue;
      sink.outputs.event(conclude(open, reason, open.lastAlarm.timestampMs), {
        key: keyOf(state),
        offset: BEFORE_RECORDS,
      });
    }
    sink.state.touched(entry);
  }
}
