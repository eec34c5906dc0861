import { protocolErrorType } from './failure.ts';
import type { Cluster } from './kafkajs-internals.ts';
import { type Patience, withPatience } from './retry.ts';

/** The leader moved, is being elected, or the topic is so new that not every broker knows of it: the request had no effect. */
const electing = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'REPLICA_NOT_AVAILABLE',
  'OFFSET_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);
const untilElected: Patience = { firstMs: 20, nextMsMax: 500, totalMsMax: 10_000 };

/** Whether asking again, with new metadata, may reach the partition's leader. */
export function leaderIsElsewhere(error: unknown): boolean {
  return electing.has(protocolErrorType(error));
}

/** Works with the partitions' leaders; again, with new metadata and for 10 s at most, while they are elsewhere. */
export function throughElections<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
  let stale = false;
  const attempt = async () => {
    if (stale) await cluster.refreshMetadata();
    stale = true;
    return work();
  };
  return withPatience(attempt, leaderIsElsewhere, untilElected);
}

/** The node that leads a partition; throws kafkajs's error when the metadata do not name one. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number {
  const metadata = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  if (metadata !== undefined && metadata.leader >= 0) return metadata.leader;
  throw Object.assign(new Error(`Partition ${partition} of topic ${topic} has no leader`), {
    type: metadata === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE',
    retriable: true,
  });
}
