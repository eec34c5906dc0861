import type { SkippedRange } from '../batch/records.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { leaderOf, refreshLeaders, topicIdOf } from '../cluster/leader.ts';
import { byTopic, i16, i32, i64, struct } from '../protocol/protocol-fields.ts';
import { type Cluster, sendRequest } from '../protocol/protocol-request.ts';
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

interface EpochRequest {
  readonly topic: string;
  readonly partition: number;
  /** Epoch of the leader that receives the request, as in the metadata. */
  readonly leaderEpoch: number;
  /** The epoch whose end is requested. */
  readonly epoch: number;
}

/** Kafka 2.3 and later. */
const OFFSET_FOR_LEADER_EPOCH = {
  name: 'OffsetForLeaderEpoch',
  key: 23,
  versions: [3],
  compactSince: 4,
  request: {
    replicaId: i32,
    topics: byTopic(struct({ partition: i32, currentLeaderEpoch: i32, leaderEpoch: i32 })),
  },
  answer: {
    clientSideThrottleTime: i32,
    topics: byTopic(struct({ errorCode: i16, partition: i32, leaderEpoch: i32, endOffset: i64 })),
  },
};
const CONSUMER = -1;

/** Place where the records of an epoch end in the log of the present leader; null if it does not know. */
async function fetchEpochEnd(cluster: Cluster, request: EpochRequest): Promise<number | null> {
  const { topic, partition, leaderEpoch: currentLeaderEpoch, epoch: leaderEpoch } = request;
  const leader = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
  const topics = [{ topic, partitions: [{ partition, currentLeaderEpoch, leaderEpoch }] }];
  const answer = await sendRequest(leader, OFFSET_FOR_LEADER_EPOCH, { replicaId: CONSUMER, topics });
  const { errorCode, endOffset } = answer.topics[0].partitions[0];
  if (errorCode !== 0) throw errorFromCode(errorCode);
  return endOffset < 0 ? null : endOffset;
}
