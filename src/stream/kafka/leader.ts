import type { Cluster } from './kafkajs-internals.ts';

/** The node that leads a partition; throws kafkajs's error when the metadata do not name one. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number {
  const metadata = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  if (metadata !== undefined && metadata.leader >= 0) return metadata.leader;
  throw Object.assign(new Error(`Partition ${partition} of topic ${topic} has no leader`), {
    type: metadata === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE',
    retriable: true,
  });
}
