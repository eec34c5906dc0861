import type { SkippedRange } from '../batch/records.ts';
import { refreshLeaders, topicIdOf } from '../cluster/leader.ts';
import type { Cluster } from '../protocol/cluster.ts';
import { type EpochRequest, fetchEpochEnd } from './epoch-end.ts';
import { stableRange } from './partition-reader.ts';

interface LostPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The id of the topic that the offset belongs to; null if it is not known. */
  readonly topicId: string | null;
}

export interface NewPosition {
  readonly offset: number;
  /** The id of the topic now; null if it is not known. */
  readonly topicId: string | null;
  readonly skipped: SkippedRange;
}

/** Offset before the position at which the log of a new leader ends, or has other records; null: there is none. */
export async function findTruncation(
  cluster: Cluster,
  request: EpochRequest,
  position: Pick<LostPosition, 'offset' | 'topicId'>,
): Promise<NewPosition | null> {
  const end = await fetchEpochEnd(cluster, request);
  return end !== null && end < position.offset ? truncatedTo(end, position) : null;
}

function truncatedTo(end: number, { offset, topicId }: Pick<LostPosition, 'offset' | 'topicId'>): NewPosition {
  return { offset: end, topicId, skipped: { first: end, last: offset - 1, reason: 'records-truncated' } };
}

/** True if the topic was created again since: the offset belongs to none of its records. */
export function isRecreated(cluster: Cluster, { topic, topicId }: Pick<LostPosition, 'topic' | 'topicId'>): boolean {
  const presentId = topicIdOf(cluster, topic);
  return topicId !== null && presentId !== null && presentId !== topicId;
}

/**
 * Where reading continues after OFFSET_OUT_OF_RANGE, and why. null when the position is in range after all.
 *
 * - A topic with another id was created again. Continues with its oldest record, regardless of the offsets.
 * - Before the first offset: retention deleted the records. Continues with the oldest record.
 * - After the last offset: a broker lost records that were read already (unclean leader election). Continues at the
 *   end.
 */
export async function locatePosition(cluster: Cluster, lost: LostPosition): Promise<NewPosition | null> {
  const { topic, partition, offset, topicId } = lost;
  await refreshLeaders(cluster);
  const { start, end } = await stableRange(cluster, topic, partition);
  if (isRecreated(cluster, lost)) {
    const skipped: SkippedRange = { first: offset, last: offset, reason: 'topic-recreated' };
    return { offset: start, topicId: topicIdOf(cluster, topic), skipped };
  }
  if (offset < start) {
    return { offset: start, topicId, skipped: { first: offset, last: start - 1, reason: 'records-expired' } };
  }
  return offset <= end ? null : truncatedTo(end, lost);
}
