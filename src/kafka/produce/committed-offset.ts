import { errorFromCode } from '../cluster/kafkajs.ts';
import { OFFSET_FETCH } from '../protocol/api-versions.ts';
import { byTopic, i8, i16, i32, i64, string, struct } from '../protocol/protocol-fields.ts';
import { type Broker, sendRequest } from '../protocol/protocol-request.ts';
import type { ProducerIdentity, TransactionProtocol } from './transaction-requests.ts';

interface GroupPartition {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
}

export interface CommittedOffset {
  readonly offset: number;
  /** The leader epoch of the record before it; -1 where it was committed without. */
  readonly leaderEpoch: number;
}

/** kafkajs's own request is older: it has no field for stable offsets. */
const STABLE_OFFSET_FETCH = {
  ...OFFSET_FETCH,
  compactSince: 6,
  request: { groupId: string, topics: byTopic(i32), requireStable: i8 },
  answer: {
    clientSideThrottleTime: i32,
    topics: byTopic(struct({ partition: i32, offset: i64, leaderEpoch: i32, metadata: string, errorCode: i16 })),
    errorCode: i16,
  },
};

/**
 * The committed offset of a consumer group for a partition, or null. Rejects with UNSTABLE_OFFSET_COMMIT while an open
 * transaction moves it: otherwise the answer would be the offset before that transaction.
 */
export async function fetchCommittedOffset(
  coordinator: Broker,
  { groupId, topic, partition }: GroupPartition,
): Promise<CommittedOffset | null> {
  const topics = [{ topic, partitions: [partition] }];
  const answer = await sendRequest(coordinator, STABLE_OFFSET_FETCH, { groupId, topics, requireStable: 1 });
  const found = answer.topics[0]?.partitions[0];
  const errorCode = found?.errorCode || answer.errorCode;
  if (errorCode !== 0) throw errorFromCode(errorCode, 'Read', 'group', groupId);
  return found === undefined || found.offset < 0 ? null : found;
}

/** The input offset that a transaction commits for a consumer group. */
export interface MovedOffset extends GroupPartition, CommittedOffset {
  /** For those who read the offset; null for none. */
  readonly metadata: string | null;
}

/** kafkajs's own request is older, and has no leader epoch. */
const FIELDS = {
  compactSince: 3,
  request: {
    transactionalId: string,
    groupId: string,
    producerId: i64,
    producerEpoch: i16,
    generationId: i32,
    memberId: string,
    groupInstanceId: string,
    topics: byTopic(struct({ partition: i32, offset: i64, leaderEpoch: i32, metadata: string })),
  },
  answer: { clientSideThrottleTime: i32, topics: byTopic(struct({ partition: i32, errorCode: i16 })) },
};
const TXN_OFFSET_COMMIT = {
  v1: { name: 'TxnOffsetCommit', key: 28, versions: [3, 4], ...FIELDS },
  v2: { name: 'TxnOffsetCommit', key: 28, versions: [5], ...FIELDS },
};
/** Each partition is fenced by its producer, not by the generation of the consumer group. */
const NO_MEMBER = { generationId: -1, memberId: '', groupInstanceId: null };

const OFFSET_METADATA_TOO_LARGE = 12;

/** Commits an offset in a transaction of the producer. Metadata that are too long for the broker are omitted. */
export async function commitInTransaction(
  coordinator: Broker,
  { producer, protocol }: { readonly producer: ProducerIdentity; readonly protocol: TransactionProtocol },
  moved: MovedOffset,
): Promise<void> {
  const { transactionalId, producerId, producerEpoch } = producer;
  const { groupId, topic, partition, offset, leaderEpoch, metadata } = moved;
  const answer = await sendRequest(coordinator, TXN_OFFSET_COMMIT[protocol], {
    transactionalId,
    groupId,
    producerId,
    producerEpoch,
    ...NO_MEMBER,
    topics: [{ topic, partitions: [{ partition, offset, leaderEpoch, metadata }] }],
  });
  const { errorCode } = answer.topics[0].partitions[0];
  if (errorCode === OFFSET_METADATA_TOO_LARGE && metadata !== null) {
    return commitInTransaction(coordinator, { producer, protocol }, { ...moved, metadata: null });
  }
  if (errorCode !== 0) throw errorFromCode(errorCode, 'Read', 'group', groupId);
}
