import { setTimeout as sleep } from 'node:timers/promises';
import { type AbortedTransaction, readInt64 } from '../batch/record-batch-decoder.ts';
import { array, byTopic, encodeRequest, i8, i32, i64, string, struct } from '../protocol/protocol-fields.ts';
import { type Broker, sendEncoded, versionFor } from '../protocol/protocol-request.ts';

export interface FetchPosition {
  readonly partition: number;
  readonly offset: number;
  /** Epoch of the leader, as in the metadata: a leader with another epoch refuses. Omitted: any. */
  readonly leaderEpoch?: number;
}

export interface FetchLimits {
  readonly waitMsMax: number;
  /** Bytes of one partition in a response, and of all. A first batch that is larger is returned nevertheless. */
  readonly partitionBytesMax: number;
  readonly responseBytesMax: number;
}

interface FetchRequest {
  readonly topic: string;
  readonly positions: readonly FetchPosition[];
  readonly limits: FetchLimits;
}

/** One partition of a fetch response. `records` is a view of the response. */
export interface FetchedPartition {
  readonly partition: number;
  readonly errorCode: number;
  readonly endOffset: number;
  readonly lastStableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly records: Buffer;
}

export interface FetchedTopic {
  readonly throttledMs: number;
  readonly partitions: readonly FetchedPartition[];
}

/** Kafka 2.3 and later. Its answer is decoded by hand: it is most of what is received. */
const FETCH = { name: 'Fetch', key: 1, versions: [11] };
const REQUEST = {
  ...{
    replicaId: i32,
    waitMs: i32,
    bytesMin: i32,
    bytesMax: i32,
    isolationLevel: i8,
    sessionId: i32,
    sessionEpoch: i32,
  },
  topics: byTopic(struct({ partition: i32, leaderEpoch: i32, offset: i64, logStartOffset: i64, bytesMax: i32 })),
  forgottenTopics: array(i32),
  rackId: string,
};
const CONSUMER = { replicaId: -1, logStartOffset: -1, rackId: '' };
const READ_COMMITTED = 1;
const NO_SESSION = { sessionId: 0, sessionEpoch: -1, forgottenTopics: [] };

/**
 * Reads committed records of partitions that `broker` leads. Waits for the first byte, `waitMsMax` at most. Rejects
 * when the broker is out of reach. The error of a single partition is in its `errorCode`.
 */
export async function fetchTopic(broker: Broker, { topic, positions, limits }: FetchRequest): Promise<FetchedTopic> {
  const { logStartOffset, ...consumer } = CONSUMER;
  const partitions = positions.map(({ partition, offset, leaderEpoch = -1 }) => {
    return { partition, leaderEpoch, offset, logStartOffset, bytesMax: limits.partitionBytesMax };
  });
  const values = {
    ...consumer,
    ...NO_SESSION,
    isolationLevel: READ_COMMITTED,
    topics: [{ topic, partitions }],
    waitMs: limits.waitMsMax,
    bytesMin: 1,
    bytesMax: limits.responseBytesMax,
  };
  const version = versionFor(broker, FETCH);
  const body = encodeRequest({ version, isCompact: false }, REQUEST, values);
  return sendEncoded(broker, { ...FETCH, version }, body, { decode: decodeResponse });
}

/**
 * Fetch response, version 11: throttleMs i32 | errorCode i16 | sessionId i32 | [topic | [partition i32 | errorCode i16
 * | highWatermark i64 | lastStableOffset i64 | logStartOffset i64 | [producerId i64 | firstOffset i64] |
 * preferredReplica i32 | records]]
 */
function decodeResponse(payload: Buffer): FetchedTopic & { readonly clientSideThrottleTime: number } {
  const throttledMs = payload.readInt32BE(0);
  const partitions: FetchedPartition[] = [];
  let at = 10;
  let topicsLeft = payload.readInt32BE(at);
  for (at += 4; topicsLeft > 0; topicsLeft--) {
    at += 2 + payload.readInt16BE(at);
    let partitionsLeft = payload.readInt32BE(at);
    for (at += 4; partitionsLeft > 0; partitionsLeft--) {
      const start = at;
      const aborted: AbortedTransaction[] = [];
      let abortedLeft = payload.readInt32BE(start + 30);
      for (at = start + 34; abortedLeft > 0; abortedLeft--, at += 16) {
        aborted.push({ producerId: readInt64(payload, at), firstOffset: readInt64(payload, at + 8) });
      }
      const bytes = Math.max(0, payload.readInt32BE(at + 4));
      at += 8;
      partitions.push({
        partition: payload.readInt32BE(start),
        errorCode: payload.readInt16BE(start + 4),
        endOffset: readInt64(payload, start + 6),
        lastStableOffset: readInt64(payload, start + 14),
        aborted,
        records: payload.subarray(at, at + bytes),
      });
      at += bytes;
    }
  }
  // kafkajs delays requests by this field when the broker throttles.
  return { throttledMs, clientSideThrottleTime: throttledMs, partitions };
}

/** Awaits a response, and reports how long it took. */
export async function timed<T>(response: Promise<T>, onAnswer?: (seconds: number) => void): Promise<T> {
  const startMs = performance.now();
  const answered = await response;
  onAnswer?.((performance.now() - startMs) / 1000);
  return answered;
}

const REST_MS_PER_PARTITION = 0.1;

/**
 * Passes between the beginnings of two fetches from a broker. It looks at each partition of a request, whether there
 * are records or not: with hundreds of them it would do nothing else.
 */
export async function restOf(partitions: number): Promise<void> {
  const restMs = REST_MS_PER_PARTITION * partitions;
  if (restMs >= 1) await sleep(restMs);
}
