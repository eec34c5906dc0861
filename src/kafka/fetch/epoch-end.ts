import { errorFromCode } from '../cluster/kafkajs.ts';
import { leaderOf } from '../cluster/leader.ts';
import type { Cluster } from '../protocol/cluster.ts';
import { byTopic, i16, i32, i64, struct } from '../protocol/protocol-fields.ts';
import { sendRequest } from '../protocol/protocol-request.ts';

export interface EpochRequest {
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
export async function fetchEpochEnd(cluster: Cluster, request: EpochRequest): Promise<number | null> {
  const { topic, partition, leaderEpoch: currentLeaderEpoch, epoch: leaderEpoch } = request;
  const leader = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
  const topics = [{ topic, partitions: [{ partition, currentLeaderEpoch, leaderEpoch }] }];
  const answer = await sendRequest(leader, OFFSET_FOR_LEADER_EPOCH, { replicaId: CONSUMER, topics });
  const { errorCode, endOffset } = answer.topics[0].partitions[0];
  if (errorCode !== 0) throw errorFromCode(errorCode);
  return endOffset < 0 ? null : endOffset;
}
