import type { Broker, Cluster } from '../cluster/cluster.ts';
import { isConnectionFailure, protocolErrorType } from '../cluster/failure.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { isLeaderChange, leaderOf, retryOnLeaderChange } from '../cluster/leader.ts';
import { sendEncoded } from '../cluster/protocol-request.ts';
import type { RetryOptions } from '../cluster/retry.ts';

/** An encoded record batch for a partition. */
export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

export interface ProduceOptions {
  /** null outside of transactions. */
  readonly transactionalId: string | null;
  /** Ends the retries. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each error that is retried. */
  readonly onRetry?: RetryOptions['onRetry'];
}

/** How long the leader waits for its replicas. */
const ACKNOWLEDGED_MS_MAX = 15_000;

/**
 * Sends batches to the leaders of their partitions, one request to each leader. Takes at most one batch for each
 * partition. Resolves when all in-sync replicas have them. `transactionalId` is null outside of transactions. Throws
 * kafkajs's errors; then it is unknown which batches were written.
 */
export async function produceBatches(
  cluster: Cluster,
  batches: readonly PartitionBatch[],
  { transactionalId, signal, onRetry }: ProduceOptions,
): Promise<void> {
  let waiting = batches;
  const isRetryable = transactionalId === null ? isLeaderChange : isRetryableInTransaction;
  const attempt = async () => {
    const byLeader = Map.groupBy(waiting, ({ topic, partition }) => leaderOf(cluster, topic, partition));
    const sends = [...byLeader].map(async ([nodeId, led]) => {
      try {
        const results = await sendBatches(await cluster.findBroker({ nodeId }), led, transactionalId);
        return led.flatMap((batch) => failureOf(results, batch));
      } catch (error) {
        return led.map((batch) => ({ batch, error }));
      }
    });
    const failures = (await Promise.all(sends)).flat();
    waiting = failures.map(({ batch }) => batch);
    const fatal = failures.find(({ error }) => !isRetryable(error)) ?? failures[0];
    if (fatal !== undefined) throw fatal.error;
  };
  await retryOnLeaderChange(cluster, attempt, { isRetryable, signal, onRetry });
}

/**
 * The leader may have written the batch or not. Within a transaction the batch is sent again: brokers recognise it by
 * its sequence number.
 */
const UNCERTAIN = new Set([
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
  'KAFKA_STORAGE_ERROR',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
]);

function isRetryableInTransaction(error: unknown): boolean {
  return isLeaderChange(error) || UNCERTAIN.has(protocolErrorType(error)) || isConnectionFailure(error);
}

interface FailedBatch {
  readonly batch: PartitionBatch;
  readonly error: unknown;
}

const UNKNOWN_SERVER_ERROR = -1;
/** The batch was written by an earlier attempt. */
const DUPLICATE_SEQUENCE_NUMBER = 46;

/** None or one. A partition that is missing from the response counts as UNKNOWN_SERVER_ERROR. */
function failureOf(results: readonly PartitionResult[], batch: PartitionBatch): FailedBatch[] {
  const isOwn = (result: PartitionResult) => result.topic === batch.topic && result.partition === batch.partition;
  const { errorCode } = results.find(isOwn) ?? { errorCode: UNKNOWN_SERVER_ERROR };
  if (errorCode === 0 || errorCode === DUPLICATE_SEQUENCE_NUMBER) return [];
  return [{ batch, error: errorFromCode(errorCode) }];
}

const PRODUCE = { name: 'Produce', key: 0, version: 7 };

interface PartitionResult {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
}

function sendBatches(
  broker: Broker,
  batches: readonly PartitionBatch[],
  transactionalId: string | null,
): Promise<readonly PartitionResult[]> {
  const whole = encodeBody(batches, transactionalId);
  return sendEncoded(broker, PRODUCE, { whole, at: HEADROOM_BYTES }, decodeResponse);
}

/** For size and header of a request, with any usual name of the client. */
const HEADROOM_BYTES = 512;

/**
 * Produce request, version 7, behind the headroom: transactionalId string? | acks i16 | timeoutMs i32 | [topic string |
 * [partition i32 | bytes]]
 */
function encodeBody(batches: readonly PartitionBatch[], transactionalId: string | null): Buffer {
  const byTopic = Map.groupBy(batches, ({ topic }) => topic);
  let size = HEADROOM_BYTES + 2 + Buffer.byteLength(transactionalId ?? '') + 10;
  for (const topic of byTopic.keys()) size += 6 + Buffer.byteLength(topic);
  for (const { batch } of batches) size += 8 + batch.length;
  const body = Buffer.allocUnsafe(size);
  let at = writeString(body, HEADROOM_BYTES, transactionalId);
  // acks=all, which transactions require.
  at = body.writeInt16BE(-1, at);
  at = body.writeInt32BE(ACKNOWLEDGED_MS_MAX, at);
  at = body.writeInt32BE(byTopic.size, at);
  for (const [topic, partitions] of byTopic) {
    at = writeString(body, at, topic);
    at = body.writeInt32BE(partitions.length, at);
    for (const { partition, batch } of partitions) {
      at = body.writeInt32BE(partition, at);
      at = body.writeInt32BE(batch.length, at);
      at += batch.copy(body, at);
    }
  }
  return body;
}

function writeString(body: Buffer, at: number, text: string | null): number {
  if (text === null) return body.writeInt16BE(-1, at);
  const start = body.writeInt16BE(Buffer.byteLength(text), at);
  return start + body.write(text, start);
}

/** Produce response, version 7: [topic string | [partition i32 | errorCode i16 | three i64]] | throttleMs i32 */
function decodeResponse(payload: Buffer): readonly PartitionResult[] & { readonly clientSideThrottleTime: number } {
  const results: PartitionResult[] = [];
  let topicsLeft = payload.readInt32BE(0);
  let at = 4;
  for (; topicsLeft > 0; topicsLeft--) {
    const topicEnd = at + 2 + payload.readInt16BE(at);
    const topic = payload.toString('utf8', at + 2, topicEnd);
    let partitionsLeft = payload.readInt32BE(topicEnd);
    at = topicEnd + 4;
    for (; partitionsLeft > 0; partitionsLeft--, at += 30) {
      results.push({ topic, partition: payload.readInt32BE(at), errorCode: payload.readInt16BE(at + 4) });
    }
  }
  // kafkajs delays requests by this field when the broker throttles.
  return Object.assign(results, { clientSideThrottleTime: payload.readInt32BE(at) });
}
