import { ServiceError } from '../../ops/service-error.ts';
import { decodeRecords, endOffset, type RecordSink } from '../batch/record-batch-decoder.ts';
import type { InputRecord, RecordHeaders } from '../batch/records.ts';
import { giveBackBatch } from '../batch/reused-bytes.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { isLeaderChange, leaderEpochOf, leaderOf, retryOnLeaderChange } from '../cluster/leader.ts';
import { type Backoff, retryWithBackoff } from '../cluster/retry.ts';
import type { Cluster } from '../protocol/protocol-request.ts';
import { type FetchedPartition, type FetchLimits, fetchTopic } from './fetch.ts';

/**
 * More would be in memory of every partition that is restored, or waits for that. With what surrounds the records a
 * response fills 2 MiB.
 */
const BYTES_MAX = 2 * 1024 * 1024 - 4096;
/**
 * After this many empty responses in a row below the end nothing is left to read: compaction removed the last records.
 */
const EMPTY_RESPONSES_MAX = 3;

/** The first offset of a partition, and its last stable offset: no open transaction lies before `end`. */
export async function stableRange(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<{ readonly start: number; readonly end: number }> {
  const read = async (fromBeginning: boolean) => {
    const [found] = await retryOnLeaderChange(cluster, async () => {
      // Throws LEADER_NOT_AVAILABLE, where kafkajs would look for a broker with the id -1.
      leaderOf(cluster, topic, partition);
      return cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
    });
    return Number(found?.partitions[0]?.offset);
  };
  return { start: await read(true), end: await read(false) };
}

/** Markers of a transaction that has ended are written within moments. */
const UNTIL_MARKERS_ARE_WRITTEN: Backoff = { initialMs: 10, delayMsMax: 200, totalMsMax: 5_000 };
const LIMITS_OF_LOOK: FetchLimits = { waitMsMax: 0, partitionBytesMax: 1, responseBytesMax: 1 };

/**
 * The range of a partition that no transaction is open in. Throws a retryable ServiceError while a transaction hangs:
 * what was committed after it began cannot be read.
 */
export async function settledRange(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<{ readonly start: number; readonly end: number }> {
  const attempt = async () => {
    const range = await stableRange(cluster, topic, partition);
    const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
    const leaderEpoch = leaderEpochOf(cluster, topic, partition);
    const request = { topic, positions: [{ partition, offset: range.end, leaderEpoch }], limits: LIMITS_OF_LOOK };
    const [fetched] = (await fetchTopic(broker, request)).partitions;
    if (fetched !== undefined && fetched.errorCode !== 0)
      throw errorFromCode(fetched.errorCode, 'Read', 'topic', topic);
    const { lastStableOffset = range.end, endOffset: highWatermark = range.end } = fetched ?? {};
    if (lastStableOffset < highWatermark) throw hangingTransaction(topic, partition, lastStableOffset);
    return range;
  };
  const isRetryable = (error: unknown) => error instanceof ServiceError || isLeaderChange(error);
  return retryWithBackoff(attempt, { isRetryable, backoff: UNTIL_MARKERS_ARE_WRITTEN });
}

export function hangingTransaction(topic: string, partition: number, offset: number): ServiceError {
  const text = `A transaction hangs in partition ${partition} of topic ${topic} since offset ${offset}`;
  const remedy = 'If it does not end, find it with "kafka-transactions.sh find-hanging" and abort it';
  return new ServiceError('broker-unavailable', `${text}. ${remedy}`, { retryable: true });
}

/**
 * A new leader may not know the last stable offset for a moment. Its empty response does not mean that nothing is
 * there.
 */
function laggingLeader(topic: string, partition: number): Error {
  const text = `The leader of partition ${partition} of topic ${topic} has not caught up`;
  return Object.assign(new Error(text), { type: 'OFFSET_NOT_AVAILABLE', retriable: true });
}

/** Offsets of a partition: from <= offset < end. */
export interface PartitionRange {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly end: number;
  /** Bytes of a response, or one batch. */
  readonly bytesMax?: number;
  /** Gets the position after each response. Reading continues once it resolves. */
  readonly onPosition?: (offset: number) => void | Promise<void>;
}

/**
 * Reads the committed records of a range without a consumer group. The next fetch is in flight while a response is
 * decoded. Keys and values are views of the response, whose bytes are used again behind them: copy what is kept. Throws
 * kafkajs's errors.
 */
export async function readPartition(
  cluster: Cluster,
  { topic, partition, from, end, bytesMax = BYTES_MAX, onPosition }: PartitionRange,
  sink: RecordSink,
): Promise<void> {
  const limits: FetchLimits = { waitMsMax: 200, partitionBytesMax: bytesMax, responseBytesMax: bytesMax };
  const fetchAt = async (offset: number): Promise<FetchedPartition | null> => {
    const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, partition) });
    const leaderEpoch = leaderEpochOf(cluster, topic, partition);
    const request = { topic, positions: [{ partition, offset, leaderEpoch }], limits };
    const { partitions, throttledMs } = await fetchTopic(broker, request);
    const fetched = partitions.find((one) => one.partition === partition);
    if (fetched !== undefined && fetched.errorCode !== 0)
      throw errorFromCode(fetched.errorCode, 'Read', 'topic', topic);
    if (fetched?.records.length === 0 && fetched.lastStableOffset < end) throw laggingLeader(topic, partition);
    return throttledMs > 0 && !fetched?.records.length ? null : (fetched ?? null);
  };
  const stopAtEnd: RecordSink = (offset, timestampMs, key, value, headers, rawHeaders) => {
    if (offset < end) sink(offset, timestampMs, key, value, headers, rawHeaders);
  };
  let empty = 0;
  let position = from;
  const fetchNext = () => (position < end ? retryOnLeaderChange(cluster, () => fetchAt(position)) : null);
  let pending = fetchNext();
  while (pending !== null) {
    const fetched: FetchedPartition | null = await pending;
    const next = fetched === null ? null : endOffset(fetched.records);
    if (fetched !== null && next === null && ++empty === EMPTY_RESPONSES_MAX) return;
    if (next !== null) empty = 0;
    const fromOffset = position;
    position = next ?? position;
    await onPosition?.(Math.min(position, end));
    pending = fetchNext();
    // It is awaited in the next iteration. When decoding throws before, its failure does not matter.
    pending?.catch(() => undefined);
    if (fetched === null) continue;
    decodeRecords(fetched.records, { fromOffset, aborted: fetched.aborted }, stopAtEnd);
    giveBackBatch(fetched.records);
  }
}

export interface TopicRecord extends Pick<InputRecord, 'partition' | 'offset' | 'timestampMs' | 'key' | 'value'> {
  readonly headers: RecordHeaders;
}

/** The committed records of a range, as copies. */
export async function copyPartition(cluster: Cluster, range: PartitionRange): Promise<TopicRecord[]> {
  const { partition } = range;
  const records: TopicRecord[] = [];
  const copy = (bytes: Buffer | null) => bytes && Buffer.from(bytes);
  await readPartition(cluster, range, (offset, timestampMs, key, value, readHeaders) => {
    const headers = readHeaders().map(([name, bytes]) => [name, copy(bytes)] as const);
    records.push({ partition, offset, timestampMs, key: copy(key), value: copy(value), headers });
  });
  return records;
}
