import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, PartitionMetadata } from '../protocol/protocol-request.ts';
import { protocolErrorType } from './failure.ts';
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
/** Longer than a cluster needs to replace a broker, shorter than the time-out of a transaction. */
const UNTIL_ELECTED: Backoff = { initialMs: 20, delayMsMax: 500, totalMsMax: 25_000 };

/** True if a retry with new metadata may reach the leader of the partition. */
export function isLeaderChange(error: unknown): boolean {
  return LEADER_CHANGES.has(protocolErrorType(error));
}

/**
 * Sends requests to partition leaders. Refreshes the metadata and retries while leaders change, for 25 s at most. Other
 * errors are retried where `isRetryable` holds.
 */
export function retryOnLeaderChange<T>(
  cluster: Cluster,
  work: () => Promise<T>,
  { isRetryable = isLeaderChange, signal, onRetry }: Partial<Omit<RetryOptions, 'backoff'>> = {},
): Promise<T> {
  let stale = false;
  const attempt = async () => {
    if (stale) await refreshLeaders(cluster);
    stale = true;
    return work();
  };
  return retryWithBackoff(attempt, { isRetryable, backoff: UNTIL_ELECTED, signal, onRetry });
}

const REFRESH_MS_MIN = 100;
const refreshes = new WeakMap<Cluster, { endedMs: number; running: Promise<void> | null }>();

/** Refreshes the metadata for all callers that wait meanwhile: many partitions may have lost their leader at once. */
export function refreshLeaders(cluster: Cluster): Promise<void> {
  const state = refreshes.get(cluster) ?? { endedMs: Number.NEGATIVE_INFINITY, running: null };
  refreshes.set(cluster, state);
  const refresh = async () => {
    try {
      const waitMs = state.endedMs + REFRESH_MS_MIN - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      await cluster.refreshMetadata();
    } finally {
      state.running = null;
      state.endedMs = performance.now();
    }
  };
  state.running ??= refresh();
  return state.running;
}

/** The node that leads a partition. Throws kafkajs's error when the metadata name none. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number {
  const metadata = metadataOf(cluster, topic, partition);
  if (metadata !== undefined && metadata.leader >= 0) return metadata.leader;
  throw Object.assign(new Error(`Partition ${partition} of topic ${topic} has no leader`), {
    type: metadata === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'LEADER_NOT_AVAILABLE',
    retriable: true,
  });
}

/** The epoch of that leader, which rises with each change; -1 if it is not known. */
export function leaderEpochOf(cluster: Cluster, topic: string, partition: number): number {
  return metadataOf(cluster, topic, partition)?.leaderEpoch ?? -1;
}

/**
 * The id of a topic, which changes when the topic is deleted and created again under its name; null if it is not
 * known: by brokers before Kafka 2.8.
 */
export function topicIdOf(cluster: Cluster, topic: string): string | null {
  return cluster.findTopicPartitionMetadata(topic)[0]?.topicId ?? null;
}

/** True if a partition has a leader, and not this node. */
export function isLedElsewhere(
  cluster: Cluster,
  { topic, partition, nodeId }: { readonly topic: string; readonly partition: number; readonly nodeId: number },
): boolean {
  const leader = metadataOf(cluster, topic, partition)?.leader ?? -1;
  return leader >= 0 && leader !== nodeId;
}

const byPartition = new WeakMap<readonly PartitionMetadata[], ReadonlyMap<number, PartitionMetadata>>();

function metadataOf(cluster: Cluster, topic: string, partition: number): PartitionMetadata | undefined {
  const all = cluster.findTopicPartitionMetadata(topic);
  const known = byPartition.get(all) ?? new Map(all.map((metadata) => [metadata.partitionId, metadata]));
  byPartition.set(all, known);
  return known.get(partition);
}
