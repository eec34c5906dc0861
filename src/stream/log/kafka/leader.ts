import { protocolErrorType } from './failure.ts';
import type { Cluster } from './kafkajs-internals.ts';
import { type Backoff, type RetryOptions, retryWithBackoff } from './retry.ts';

/**
 * The request had no effect: the leader moved or is being elected, or the topic is too new for every broker to know it.
 */
const LEADER_CHANGES = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'REPLICA_NOT_AVAILABLE',
  'OFFSET_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
]);
const UNTIL_ELECTED: Backoff = { initialMs: 20, delayMsMax: 500, totalMsMax: 15_000 };

/** Whether a retry with new metadata may reach the leader of the partition. */
export function isLeaderChange(error: unknown): boolean {
  return LEADER_CHANGES.has(protocolErrorType(error));
}

/**
 * Sends requests to partition leaders. Refreshes the metadata and retries while leaders change, for 15 s at most. Other
 * errors are retried where `isRetryable` says so.
 */
export function retryOnLeaderChange<T>(
  cluster: Cluster,
  work: () => Promise<T>,
  { isRetryable = isLeaderChange, signal }: Partial<Pick<RetryOptions, 'isRetryable' | 'signal'>> = {},
): Promise<T> {
  let stale = false;
  const attempt = async () => {
    if (stale) await cluster.refreshMetadata();
    stale = true;
    return work();
  };
  return retryWithBackoff(attempt, { isRetryable, backoff: UNTIL_ELECTED, signal });
}

/** The node that leads a partition. Throws kafkajs's error when the metadata name none. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number {
  const metadata = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  if (metadata !== undefined && metadata.leader >= 0) return metadata.leader;
  throw Object.assign(new Error(`Partition ${partition} of topic ${topic} has no leader`), {
    type: metadata === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE',
    retriable: true,
  });
}
