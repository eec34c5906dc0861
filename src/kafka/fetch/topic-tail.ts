import { setTimeout as sleep } from 'node:timers/promises';
import { decodeRecords, endOffset } from '../batch/record-batch-decoder.ts';
import { type ClusterLink, type KafkaConnection, linkCluster, withCluster } from '../cluster/connection.ts';
import { explainFailure } from '../cluster/failure.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { leaderEpochOf, leaderOf, refreshLeaders } from '../cluster/leader.ts';
import type { Cluster } from '../protocol/protocol-request.ts';
import { type FetchedPartition, type FetchLimits, fetchTopic } from './fetch.ts';
import { isRecreated } from './out-of-range.ts';
import { copyPartition, stableRange, type TopicRecord } from './partition-reader.ts';
import { beginAnew, locate, type MovingPlace, placeNow, startPlace, type TailPlace, truncate } from './tail-place.ts';

export type { TopicRecord };

const LIMITS: FetchLimits = { waitMsMax: 250, partitionBytesMax: 1024 * 1024, responseBytesMax: 8 * 1024 * 1024 };
/** After a failure leaders may have moved: so often in a row new metadata are tried before new connections. */
const REFRESHES_MAX = 3;
const RECONNECT_MS = 500;
const OFFSET_OUT_OF_RANGE = 1;
/** Offsets in memory of a topic that is read as a whole. */
const RANGE_OFFSETS = 50_000;

export interface TopicTail {
  readonly begin: TailPlace;
  /** No records are delivered afterwards. */
  stop(): Promise<void>;
}

export interface TailOptions {
  readonly topic: string;
  /** A place of which partitions are missing begins there with their oldest record. */
  readonly from: 'earliest' | 'latest' | TailPlace;
}

interface TailHandlers {
  /**
   * Records of each partition in offset order, and where the tail is after them. Markers of transactions move it, too,
   * so there may be no records. A returned promise is awaited before the next fetch; it must not reject.
   */
  onRecords(records: readonly TopicRecord[], after: TailPlace): void | Promise<void>;
  /**
   * Not every partition can be read (`error`), or all of them can again (`null`). The others are read on, and the tail
   * recovers at its position.
   */
  onConnection?(error: Error | null): void;
}

const doingOf = (topic: string) => `reading topic ${topic}`;

/** Follows the committed records of a topic, without a group. Throws a ServiceError when the topic cannot be opened. */
export async function tailTopic(
  connection: KafkaConnection,
  { topic, from }: TailOptions,
  handlers: TailHandlers,
): Promise<TopicTail> {
  const explain = (error: unknown) => explainFailure(error, doingOf(topic));
  let link = await linkCluster(connection, [topic]).catch((error: unknown) => {
    throw explain(error);
  });
  let stopped = false;
  let lost = false;
  let failures = 0;
  const place = await startPlace(link.cluster, topic, from).catch((error: unknown) => {
    link.destroy();
    throw explain(error);
  });

  const follow = async () => {
    while (!stopped) {
      try {
        const truncated = await truncate(link.cluster, topic, place);
        for (const range of truncated) {
          connection.log?.('error', `Records of ${topic} that were read are lost; reading continues before them`, {
            ...range,
          });
        }
        const { records, moved, failure } = await fetchOnce(link, topic, place);
        if (stopped) return;
        if (moved || truncated.length > 0) await handlers.onRecords(records, placeNow(place));
        if (failure !== null) throw failure;
        if (lost) handlers.onConnection?.(null);
        lost = false;
        failures = 0;
      } catch (error) {
        if (stopped) return;
        if (++failures <= REFRESHES_MAX && (await isRefreshed(link.cluster))) continue;
        link.destroy();
        if (!lost) handlers.onConnection?.(explainFailure(error, `reading topic ${topic}`));
        lost = true;
        await sleep(RECONNECT_MS);
        link = await linkCluster(connection, [topic]).catch(() => link);
        if (stopped) link.destroy();
      }
    }
  };
  const begin = placeNow(place);
  const following = follow();
  return {
    begin,
    stop: async () => {
      stopped = true;
      link.destroy();
      await following;
    },
  };
}

/** Reads the newest committed records of a partition, `recordsMax` at most. */
export function readTail(
  connection: KafkaConnection,
  { topic, partition, recordsMax }: { readonly topic: string; readonly partition: number; readonly recordsMax: number },
): Promise<TopicRecord[]> {
  return withCluster(connection, { topics: [topic], doing: doingOf(topic) }, async (cluster) => {
    const { start, end } = await stableRange(cluster, topic, partition);
    // Transaction markers and compacted records have offsets too. Widen the range until there are enough records.
    for (let span = recordsMax + 16; ; span *= 4) {
      const from = Math.max(start, end - span);
      const records = await copyPartition(cluster, { topic, partition, from, end });
      if (from === start || records.length >= recordsMax) {
        return records.slice(Math.max(0, records.length - recordsMax));
      }
    }
  });
}

/**
 * Reads every committed record that a topic has now, partition by partition. `onRecords` receives the number of its
 * partitions as well. Throws a ServiceError.
 */
export function readWholeTopic(
  connection: KafkaConnection,
  topic: string,
  onRecords: (records: readonly TopicRecord[], partitions: number) => Promise<void>,
): Promise<void> {
  return withCluster(connection, { topics: [topic], doing: doingOf(topic) }, async (cluster) => {
    const partitions = cluster.findTopicPartitionMetadata(topic);
    for (const { partitionId: partition } of partitions) {
      const { start, end } = await stableRange(cluster, topic, partition);
      for (let from = start; from < end; from += RANGE_OFFSETS) {
        const range = { topic, partition, from, end: Math.min(end, from + RANGE_OFFSETS) };
        await onRecords(await copyPartition(cluster, range), partitions.length);
      }
    }
  });
}

interface FetchedRecords {
  readonly records: readonly TopicRecord[];
  readonly moved: boolean;
  /** Reason why a partition could not be read. Records of the others are delivered: their positions moved. */
  readonly failure: Error | null;
}

/** Fetches from every leader once, and moves the positions. */
async function fetchOnce({ cluster }: ClusterLink, topic: string, place: MovingPlace): Promise<FetchedRecords> {
  await cluster.refreshMetadataIfNecessary();
  const { topicId } = place;
  if (isRecreated(cluster, { topic, topicId })) {
    await beginAnew(cluster, topic, place);
    return { records: [], moved: true, failure: null };
  }
  const before = new Map(place.positions);
  const batches: TopicRecord[][] = [];
  let failure: Error | null = null;
  const fail = (error: unknown) => {
    failure ??= error as Error;
    return [];
  };
  for (const fetched of await fetchFromLeaders(cluster, { topic, positions: before }, fail)) {
    // The topic was created again: what was fetched does not follow its new position.
    if (place.topicId !== topicId) break;
    try {
      if (fetched.errorCode === OFFSET_OUT_OF_RANGE) await locate(cluster, topic, place, fetched.partition);
      else batches.push(acceptRecords(fetched, place));
    } catch (error) {
      fail(error);
    }
  }
  const moved = place.topicId !== topicId || [...before].some(([at, offset]) => place.positions.get(at) !== offset);
  return { records: batches.flat(), moved, failure };
}

/** The answers for all partitions that can be fetched; `fail` receives the others. */
async function fetchFromLeaders(
  cluster: Cluster,
  { topic, positions }: Pick<TailPlace, 'positions'> & { readonly topic: string },
  fail: (error: unknown) => never[],
): Promise<FetchedPartition[]> {
  const led = [...positions].flatMap(([partition, offset]) => {
    try {
      const nodeId = leaderOf(cluster, topic, partition);
      return [{ nodeId, partition, offset, leaderEpoch: leaderEpochOf(cluster, topic, partition) }];
    } catch (error) {
      return fail(error);
    }
  });
  const answers = [...Map.groupBy(led, ({ nodeId }) => nodeId)].map(async ([nodeId, led]) => {
    try {
      const broker = await cluster.findBroker({ nodeId });
      return (await fetchTopic(broker, { topic, positions: led, limits: LIMITS })).partitions;
    } catch (error) {
      return fail(error);
    }
  });
  return (await Promise.all(answers)).flat();
}

/** Decodes the records of a partition, and moves its position. Throws where they could not be fetched or decoded. */
function acceptRecords(fetched: FetchedPartition, { positions, epochs }: MovingPlace): TopicRecord[] {
  const { partition, errorCode, aborted } = fetched;
  if (errorCode !== 0) throw errorFromCode(errorCode);
  const fromOffset = positions.get(partition) ?? 0;
  const records: TopicRecord[] = [];
  decodeRecords(fetched.records, { fromOffset, aborted }, (offset, timestampMs, key, value, headers) => {
    records.push({ partition, offset, timestampMs, key, value, headers: headers() });
  });
  epochs.fetched(partition, fetched.records);
  positions.set(partition, endOffset(fetched.records) ?? fromOffset);
  return records;
}

function isRefreshed(cluster: Cluster): Promise<boolean> {
  return refreshLeaders(cluster).then(
    () => true,
    () => false,
  );
}
