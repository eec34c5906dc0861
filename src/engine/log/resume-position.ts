import type { StoredPosition } from '../../checkpoint/partition-records.ts';
import type { PartitionSession, SkippedRange } from './log.ts';

/** Position of a partition in the log when it is taken over. */
type InputPosition = Pick<PartitionSession, 'committedOffset' | 'inputTopicId'>;

/** Place where reading continues after a restore. */
export interface Resume {
  /** null: at the oldest record. */
  readonly offset: number | null;
  /**
   * - `committed`: at the offset of the consumer group; at the oldest record where it and the state have none. An
   *   offset that is ahead of the state is an operator's, who wants the records between to be skipped: they may have
   *   been scored before.
   * - `state`: the offset of the consumer group is lost or older than the state. Records that the state has seen would
   *   all be late.
   * - `start-over`: the state belongs to an input topic that was deleted and created again, or is only a part.
   */
  readonly from: 'committed' | 'state' | 'start-over';
  /** The id of the input topic that the state belongs to from now on; null if it is not known. */
  readonly topicId: string | null;
  /** Range that is reported instead of the records that are not read. */
  readonly skipped: SkippedRange | null;
}

/**
 * Decides where reading continues.
 * @param stored null if the changelog does not hold how far its state reaches
 * @param isPart whether the changelog has only a part of the state
 */
export function planResume(
  log: InputPosition,
  stored: StoredPosition | null,
  { isPart = false }: { readonly isPart?: boolean } = {},
): Resume {
  const whole = planWhole(log, stored);
  return isPart ? { ...whole, from: 'start-over' } : whole;
}

function planWhole({ committedOffset, inputTopicId }: InputPosition, stored: StoredPosition | null): Resume {
  const topicId = inputTopicId ?? stored?.topicId ?? null;
  if (stored === null) return { offset: committedOffset, from: 'committed', topicId, skipped: null };
  const { nextOffset } = stored;
  if (stored.topicId !== null && stored.topicId !== topicId) {
    const skipped: SkippedRange = { first: nextOffset, last: nextOffset, reason: 'topic-recreated' };
    return { offset: null, from: 'start-over', topicId, skipped };
  }
  if (committedOffset === null || committedOffset < nextOffset) {
    return { offset: nextOffset, from: 'state', topicId, skipped: null };
  }
  const last = committedOffset - 1;
  const skipped: SkippedRange | null =
    last < nextOffset ? null : { first: nextOffset, last, reason: 'records-skipped' };
  return { offset: committedOffset, from: 'committed', topicId, skipped };
}
