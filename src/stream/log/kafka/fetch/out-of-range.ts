import type { SkippedRange } from '../../log.ts';
import type { Cluster } from '../cluster/kafkajs-internals.ts';
import { leaderOf } from '../cluster/leader.ts';
import { stableRange } from './partition-reader.ts';
import { fetchTopicId } from './topic-id.ts';

export interface LostPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** The id of the topic when it was opened; null where it is not known. */
  readonly topicId: string | null;
}

export interface NewPosition {
  readonly offset: number;
  /** The id of the topic now; null where it is not known. */
  readonly topicId: string | null;
  readonly skipped: SkippedRange;
}

/** Reading continues where the log of the new leader ends, or went on with other records. */
export function truncatedTo(end: number, { offset, topicId }: Pick<LostPosition, 'offset' | 'topicId'>): NewPosition {
  return { offset: end, topicId, skipped: { first: end, last: offset - 1, reason: 'records-truncated' } };
}

/**
 * Where reading continues after OFFSET_OUT_OF_RANGE, and why. null when the position is in range after all.
 *
 * - Before the first offset: retention deleted the records. Continues with the oldest record.
 * - After the last offset of a topic with another id: the topic was created anew. Continues with its oldest record.
 * - After the last offset of the same topic: a broker lost records that were read already (unclean leader election).
 *   Continues at the end.
 */
export async function locatePosition(cluster: Cluster, lost: LostPosition): Promise<NewPosition | null> {
  const { topic, partition, offset } = lost;
  const { start, end } = await stableRange(cluster, topic, partition);
  const { topicId } = lost;
  if (offset < start) {
    return { offset: start, topicId, skipped: { first: offset, last: start - 1, reason: 'records-expired' } };
  }
  if (offset <= end) return null;
  const presentId = topicId === null ? null : await presentTopicId(cluster, lost);
  if (presentId === topicId) return truncatedTo(end, lost);
  return { offset: start, topicId: presentId, skipped: { first: offset, last: offset, reason: 'topic-recreated' } };
}

async function presentTopicId(cluster: Cluster, { topic, partition }: LostPosition): Promise<string | null> {
  const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
  return fetchTopicId(broker, topic);
}
