import { retryWhileCompleted } from '../cluster/coordinator.ts';
import { isConnectionFailure, protocolErrorType } from '../cluster/failure.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';
import { isLeaderChange, leaderOf, retryOnLeaderChange } from '../cluster/leader.ts';
import type { RetryOptions } from '../cluster/retry.ts';
import { array, byTopic, bytes, i16, i32, i64, since, string, struct } from '../protocol/protocol-fields.ts';
import { type Broker, type Cluster, sendRequest } from '../protocol/protocol-request.ts';
import type { TransactionProtocol } from './transaction-requests.ts';

export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

interface ProduceOptions {
  /** null outside of transactions. */
  readonly transaction: { readonly id: string; readonly protocol: TransactionProtocol } | null;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: RetryOptions['onRetry'];
}

/** Time that the leader waits for its replicas. */
const ACKNOWLEDGED_MS_MAX = 15_000;

/**
 * Sends batches to the leaders of their partitions, one request to each leader. Takes at most one batch for each
 * partition. Resolves to the attempts that it took, when all in-sync replicas have them. Throws kafkajs's errors; then
 * it is unknown which batches were written.
 */
export async function produceBatches(
  cluster: Cluster,
  batches: readonly PartitionBatch[],
  { transaction, signal, onRetry }: ProduceOptions,
): Promise<number> {
  let waiting = batches;
  let attempts = 0;
  const isRetryable = transaction === null ? isLeaderChange : isRetryableInTransaction;
  const attempt = async () => {
    attempts++;
    const byLeader = Map.groupBy(waiting, ({ topic, partition }) => leaderOf(cluster, topic, partition));
    const sendTo = async (nodeId: number, led: readonly PartitionBatch[]): Promise<FailedBatch[]> => {
      try {
        const results = await sendBatches(await cluster.findBroker({ nodeId }), led, transaction);
        return led.flatMap((batch) => failureOf(results, batch));
      } catch (error) {
        return led.map((batch) => ({ batch, error }));
      }
    };
    const failures: FailedBatch[] = [];
    if (transaction?.protocol === 'v2') {
      // Each leader adds its partitions to the transaction. Of those that do it at once all but one wait for 20 ms.
      for (const [nodeId, led] of byLeader) failures.push(...(await sendTo(nodeId, led)));
    } else {
      const sends = Array.from(byLeader, ([nodeId, led]) => sendTo(nodeId, led));
      failures.push(...(await Promise.all(sends)).flat());
    }
    waiting = failures.map(({ batch }) => batch);
    const fatal = failures.find(({ error }) => !isRetryable(error)) ?? failures[0];
    if (fatal !== undefined) throw fatal.error;
  };
  const led = () => retryOnLeaderChange(cluster, attempt, { isRetryable, signal, onRetry });
  // The leader, as it adds its partitions, may find the transaction before in completion.
  await retryWhileCompleted(led, { signal, onRetry });
  return attempts;
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
  return [{ batch, error: errorFromCode(errorCode, 'Write', 'topic', batch.topic) }];
}

/** From version 8 on: which records of a batch were refused, and why. */
const RECORD_ERRORS = array(struct({ record: i32, message: string }));
const FIELDS = {
  compactSince: 9,
  request: {
    transactionalId: string,
    acks: i16,
    timeoutMs: i32,
    topics: byTopic(struct({ partition: i32, batch: bytes })),
  },
  answer: {
    topics: byTopic(
      struct({
        partition: i32,
        errorCode: i16,
        firstOffset: i64,
        appendedMs: i64,
        startOffset: i64,
        recordErrors: since(8, RECORD_ERRORS, []),
        errorMessage: since(8, string, null),
      }),
    ),
    clientSideThrottleTime: i32,
  },
};
const PRODUCE = {
  v1: { name: 'Produce', key: 0, versions: [7, 11], ...FIELDS },
  v2: { name: 'Produce', key: 0, versions: [12], ...FIELDS },
};
/** acks=all, which transactions require. */
const ALL_IN_SYNC = -1;

interface PartitionResult {
  readonly topic: string | null;
  readonly partition: number;
  readonly errorCode: number;
}

async function sendBatches(
  broker: Broker,
  batches: readonly PartitionBatch[],
  transaction: ProduceOptions['transaction'],
): Promise<readonly PartitionResult[]> {
  const byName = Map.groupBy(batches, ({ topic }) => topic);
  const { topics } = await sendRequest(broker, PRODUCE[transaction?.protocol ?? 'v1'], {
    transactionalId: transaction?.id ?? null,
    acks: ALL_IN_SYNC,
    timeoutMs: ACKNOWLEDGED_MS_MAX,
    topics: Array.from(byName, ([topic, partitions]) => ({ topic, partitions })),
  });
  return topics.flatMap(({ topic, partitions }) => partitions.map((result) => ({ ...result, topic })));
}
