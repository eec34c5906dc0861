import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterLink, type KafkaConnection, linkCluster } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { type FetchLimits, fetchTopic } from './fetch.ts';
import { type Cluster, errorFromCode } from './kafkajs-internals.ts';
import { leaderOf } from './leader.ts';
import { readPartition, stableRange } from './partition-reader.ts';
import { decodeRecords, endOffset } from './record-batch-decoder.ts';

/** A committed record of any topic. */
export interface WatchedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

const limits: FetchLimits = { waitMsMax: 250, partitionBytesMax: 1024 * 1024, responseBytesMax: 8 * 1024 * 1024 };
const reconnectMs = 500;

export interface Watch {
  /** Nothing is handed over afterwards. */
  stop(): Promise<void>;
}

export interface WatchHandlers {
  /** Records of one partition in offset order. A promise is waited for before more are fetched; it must not reject. */
  onRecords(records: readonly WatchedRecord[]): void | Promise<void>;
  /** Kafka is out of reach (`error`) or back (`null`); the watch goes on by itself where it was. */
  onConnection?(error: Error | null): void;
}

/** Follows the committed records of a topic, without a group. Throws a ServiceError when the topic cannot be opened. */
export async function watchTopic(
  connection: KafkaConnection,
  topic: string,
  from: 'earliest' | 'latest',
  handlers: WatchHandlers,
): Promise<Watch> {
  let link = await explained(topic, () => linkCluster(connection, [topic]));
  let stopped = false;
  let lost = false;
  const positions = await explained(topic, () => startPositions(link.cluster, topic, from)).catch((error: unknown) => {
    link.destroy();
    throw error;
  });

  const follow = async () => {
    while (!stopped) {
      try {
        const fetched = await fetchOnce(link, topic, positions);
        if (stopped) return;
        if (lost) handlers.onConnection?.(null);
        lost = false;
        if (fetched.length > 0) await handlers.onRecords(fetched);
      } catch (error) {
        if (stopped) return;
        link.destroy();
        if (!lost) handlers.onConnection?.(explainFailure(error, `topic ${topic} was watched`));
        lost = true;
        await sleep(reconnectMs);
        link = await linkCluster(connection, [topic]).catch(() => link);
        if (stopped) link.destroy();
      }
    }
  };
  const following = follow();
  return {
    stop: async () => {
      stopped = true;
      link.destroy();
      await following;
    },
  };
}

/** Reads every committed record of a topic's partition that is there now, `recordsMax` at most: the newest ones. */
export async function readTail(
  connection: KafkaConnection,
  topic: string,
  partition: number,
  recordsMax: number,
): Promise<WatchedRecord[]> {
  return explained(topic, async () => {
    const link = await linkCluster(connection, [topic]);
    try {
      const { start, end } = await stableRange(link.cluster, topic, partition);
      // Markers of transactions and compacted records have offsets too: look further back until there is enough.
      for (let span = recordsMax + 16; ; span *= 4) {
        const from = Math.max(start, end - span);
        const records = await readRange(link.cluster, topic, partition, from, end);
        if (from === start || records.length >= recordsMax)
          return records.slice(Math.max(0, records.length - recordsMax));
      }
    } finally {
      link.destroy();
    }
  });
}

async function readRange(
  cluster: Cluster,
  topic: string,
  partition: number,
  from: number,
  end: number,
): Promise<WatchedRecord[]> {
  const records: WatchedRecord[] = [];
  await readPartition(cluster, topic, partition, { from, end }, (offset, timestampMs, key, value, headers) => {
    records.push({ partition, offset, timestampMs, key, value, headers: headers() });
  });
  return records;
}

async function startPositions(
  cluster: Cluster,
  topic: string,
  from: 'earliest' | 'latest',
): Promise<Map<number, number>> {
  const positions = new Map<number, number>();
  for (const { partitionId } of cluster.findTopicPartitionMetadata(topic)) {
    const { start, end } = await stableRange(cluster, topic, partitionId);
    positions.set(partitionId, from === 'earliest' ? start : end);
  }
  return positions;
}

async function fetchOnce(
  { cluster }: ClusterLink,
  topic: string,
  positions: Map<number, number>,
): Promise<WatchedRecord[]> {
  await cluster.refreshMetadataIfNecessary();
  const byLeader = Map.groupBy(positions, ([partition]) => leaderOf(cluster, topic, partition));
  const responses = [...byLeader].map(async ([nodeId, entries]) => {
    const broker = await cluster.findBroker({ nodeId });
    return fetchTopic(
      broker,
      topic,
      entries.map(([partition, offset]) => ({ partition, offset })),
      limits,
    );
  });
  const records: WatchedRecord[] = [];
  for (const fetched of (await Promise.all(responses)).flatMap(({ partitions }) => partitions)) {
    const { partition } = fetched;
    if (fetched.errorCode !== 0) {
      const error = errorFromCode(fetched.errorCode);
      if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
      // Retention went faster than the reader: it goes on with the oldest record there is.
      positions.set(partition, (await stableRange(cluster, topic, partition)).start);
      continue;
    }
    decodeRecords(
      fetched.records,
      positions.get(partition)!,
      fetched.aborted,
      (offset, timestampMs, key, value, headers) => {
        records.push({ partition, offset, timestampMs, key, value, headers: headers() });
      },
    );
    positions.set(partition, endOffset(fetched.records) ?? positions.get(partition)!);
  }
  return records;
}

async function explained<T>(topic: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainFailure(error, `topic ${topic} was read`);
  }
}
