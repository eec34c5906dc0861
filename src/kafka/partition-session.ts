import { ServiceError } from '../ops/service-error.ts';
import type { Compression } from './batch/compressed-batch.ts';
import type { InputRecord, OutputRecord } from './batch/records.ts';
import type { ClusterLink, KafkaConnection } from './cluster/connection.ts';
import { Coordinator, GROUP_COORDINATOR } from './cluster/coordinator.ts';
import { explainFailure, protocolErrorType } from './cluster/failure.ts';
import { topicIdOf } from './cluster/leader.ts';
import { type Backoff, retryWithBackoff, unlessAborted } from './cluster/retry.ts';
import type { SharedLink } from './cluster/shared-link.ts';
import type { LeaderEpochs } from './fetch/leader-epochs.ts';
import { copyPartition, readPartition, settledRange, stableRange } from './fetch/partition-reader.ts';
import { type CommittedOffset, fetchCommittedOffset } from './produce/committed-offset.ts';
import { fenceTransactionalProducer, type TransactionalProducer } from './produce/transactional-producer.ts';
import type { Cluster } from './protocol/protocol-request.ts';

const UNTIL_BROKER_IS_BACK: Backoff = { initialMs: 100, delayMsMax: 1_000, totalMsMax: Number.POSITIVE_INFINITY };

/**
 * Exclusive ownership of an input partition. Opening a session fences every earlier owner: their commits fail from then
 * on. After any rejected call the session is dead: close it, discard the state, and open a new one.
 */
export interface PartitionSession {
  readonly partition: number;
  /**
   * The committed input offset; null if the group has none. It is read after fencing, so that no earlier owner can
   * move it.
   */
  readonly committedOffset: number | null;
  /** The id of the input topic. It changes when the topic is created again. null if it is not known. */
  readonly inputTopicId: string | null;
  /** The offset of the oldest input record. */
  oldestOffset(): Promise<number>;
  /** The input records from `offset` on, whose offsets are below `offset + span`. */
  readInput(offset: number, span: number): Promise<readonly InputRecord[]>;
  /**
   * Reads every record of this partition's changelog in log order. The newest record of a key comes last. Reading
   * continues once `onProgress` resolves.
   */
  readChangelog(
    onRecord: (key: Buffer, value: Buffer | null) => void,
    onProgress?: (share: number) => void | Promise<void>,
  ): Promise<void>;
  /** Writes the outputs and commits `nextOffset` with its metadata in one transaction. One call at a time. */
  commit(outputs: readonly OutputRecord[], nextOffset: number, metadata?: string | null): Promise<void>;
  close(): Promise<void>;
}

interface SessionOptions {
  /** Connections to the cluster, with the metadata of all these topics. */
  readonly shared: SharedLink;
  readonly groupId: string;
  readonly partition: number;
  readonly inputTopic: string;
  readonly changelogTopic: string;
  /** Outputs with the partitions of the input, except the changelog. */
  readonly partitionedTopics: readonly string[];
  readonly deadLettersTopic: string;
  /** True if outputs may be in any partition of `partitionedTopics`. */
  readonly spread: boolean;
  /** Codec of batches for `partitionedTopics`. */
  readonly compression: Compression;
  /** Each input partition has its own, which never changes. The next session with it fences this one. */
  readonly transactionalId: string;
  /** Time that a transaction may take; left out: as for a worker. */
  readonly transactionMs?: number;
  readonly onCommit?: (commit: CommitReport) => void;
  readonly epochs: LeaderEpochs;
}

interface SessionOpening {
  readonly signal?: AbortSignal | undefined;
  readonly onFailure?: ((error: Error) => void) | undefined;
}

export interface CommitReport {
  readonly partition: number;
  readonly records: number;
  readonly durationMs: number;
}

/**
 * Takes over a partition: fences the earlier owners first, then reads the committed offset, so that no earlier owner
 * can move it. Retries while Kafka cannot be reached, until `signal` aborts. Then it throws the reason of `signal`.
 * `onFailure` receives the reason of each failed attempt, and of what a call of the session retries; the log, what is
 * new.
 */
export async function openPartitionSession(
  connection: KafkaConnection,
  options: SessionOptions,
  { signal, onFailure }: SessionOpening = {},
): Promise<PartitionSession> {
  const { partition } = options;
  let logged = '';
  const attempt = async () => {
    signal?.throwIfAborted();
    const opening = open(connection, options, { signal, onFailure });
    try {
      return await unlessAborted(signal, opening);
    } catch (error) {
      // It may still succeed where the signal aborted.
      opening.then((session) => session.close()).catch(() => undefined);
      signal?.throwIfAborted();
      const failure = explainFailure(error, `partition ${partition} was taken over`);
      if (failure.message !== logged) connection.log?.('warn', failure.message, { partition });
      logged = failure.message;
      onFailure?.(failure);
      throw failure;
    }
  };
  const isRetryable = (error: unknown) => error instanceof ServiceError && error.retryable;
  return retryWithBackoff(attempt, { isRetryable, backoff: UNTIL_BROKER_IS_BACK, signal });
}

const CLOSED = { retryable: true };

interface SessionParts {
  readonly link: ClusterLink;
  readonly producer: TransactionalProducer;
  readonly options: SessionOptions;
  /** Aborted when the session is dead: requests are not retried any more. */
  readonly ended: AbortController;
}

async function open(
  connection: KafkaConnection,
  options: SessionOptions,
  { signal, onFailure }: SessionOpening,
): Promise<PartitionSession> {
  const { inputTopic, partitionedTopics, compression, partition } = options;
  const link = await options.shared.acquire();
  try {
    const ended = new AbortController();
    const untilEnded = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
    signal?.throwIfAborted();
    const producer = await fenceTransactionalProducer(link.cluster, options.transactionalId, {
      signal: untilEnded,
      onRetry: (error) => onFailure?.(explainFailure(error, `partition ${partition} was committed`)),
      ...(options.transactionMs && { transactionMs: options.transactionMs }),
      compressionOf: (topic) => (partitionedTopics.includes(topic) ? compression : 'none'),
    });
    const parts = { link, producer, options, ended };
    const committed = await settleOffset(connection, parts, untilEnded);
    if (committed !== null) options.epochs.committed(options.partition, committed.offset, committed.leaderEpoch);
    const inputTopicId = topicIdOf(link.cluster, inputTopic);
    return createSession(parts, { committedOffset: committed?.offset ?? null, inputTopicId });
  } catch (error) {
    link.destroy();
    throw error;
  }
}

/** A broker's coordinators need a moment to exchange the end of a transaction. */
const UNTIL_COORDINATORS_AGREE: Backoff = { initialMs: 50, delayMsMax: 100, totalMsMax: 400 };
/** Longer than the time-out of any transaction. */
const UNTIL_SETTLED: Backoff = { initialMs: 50, delayMsMax: 1_000, totalMsMax: 45_000 };

/**
 * The committed input offset, or null.
 *
 * After the fence no transaction of this partition is open, so the offset is stable. There is one exception, seen with
 * Kafka 4.3 on one node. A broker crashed after it had decided to commit and before it had written the commit markers.
 * At its restart it gave up the markers, because the partitions had no leader yet. Outputs and offset then stay
 * pending. The next commit would make them visible together with outputs that were computed again. So what was decided
 * is completed first. Where the coordinator does not know any more what that was, the transaction is aborted and its
 * input is read again.
 */
async function settleOffset(
  connection: KafkaConnection,
  { link: { cluster }, producer, options }: SessionParts,
  signal: AbortSignal,
): Promise<CommittedOffset | null> {
  const { groupId, inputTopic, partition } = options;
  const coordinator = new Coordinator(cluster, { type: GROUP_COORDINATOR, id: groupId, signal });
  const isUnstable = (error: unknown) => protocolErrorType(error) === 'UNSTABLE_OFFSET_COMMIT';
  const groupPartition = { groupId, topic: inputTopic, partition };
  const fetch = () => coordinator.send((broker) => fetchCommittedOffset(broker, groupPartition));
  const read = (backoff: Backoff) => retryWithBackoff(fetch, { isRetryable: isUnstable, backoff });
  return read(UNTIL_COORDINATORS_AGREE).catch(async (error: unknown) => {
    if (!isUnstable(error)) throw error;
    signal.throwIfAborted();
    const decision = producer.earlierCommit ? 'a commit' : 'an abort';
    connection.log?.('warn', `A broker left ${decision} of partition ${partition} unfinished; it is finished now`, {
      partition,
    });
    await producer.finish(outputPartitions(cluster, options), groupId);
    return read(UNTIL_SETTLED);
  });
}

/** Every partition that a commit of this input partition may have written to. */
function outputPartitions(
  cluster: Cluster,
  { changelogTopic, partitionedTopics, deadLettersTopic, spread, partition }: SessionOptions,
) {
  const own = [changelogTopic, ...(spread ? [] : partitionedTopics)];
  const any = new Set([deadLettersTopic, ...(spread ? partitionedTopics : [])]);
  return [
    ...own.map((topic) => ({ topic, partitions: [partition] })),
    ...Array.from(any, (topic) => {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
      return { topic, partitions };
    }),
  ];
}

function createSession(
  { link, producer, options, ended }: SessionParts,
  position: Pick<PartitionSession, 'committedOffset' | 'inputTopicId'>,
): PartitionSession {
  const { groupId, inputTopic: topic, changelogTopic, partition } = options;
  let state = 'idle' as 'idle' | 'busy' | 'dead';

  /** Runs one call at a time. Any failure ends the session. */
  const exclusively = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    if (state !== 'idle') throw new ServiceError('internal', `The session of partition ${partition} is ${state}`);
    state = 'busy';
    try {
      const result = await unlessAborted(ended.signal, work());
      if (state === 'busy') state = 'idle';
      return result;
    } catch (error) {
      end();
      throw explainFailure(error, doing);
    }
  };
  /** No further request of a call in flight is sent. */
  const end = () => {
    state = 'dead';
    ended.abort(new ServiceError('broker-unavailable', `The session of partition ${partition} has ended`, CLOSED));
  };

  return {
    partition,
    ...position,
    oldestOffset: () =>
      exclusively(`the oldest offset of partition ${partition} was read`, async () => {
        return (await stableRange(link.cluster, topic, partition)).start;
      }),
    readInput: (offset, span) =>
      exclusively(`the first records of partition ${partition} were read`, async () => {
        const { start, end } = await stableRange(link.cluster, topic, partition);
        const range = { topic, partition, from: Math.max(start, offset), end: Math.min(end, offset + span) };
        return copyPartition(link.cluster, range);
      }),
    readChangelog: (onRecord, onProgress) =>
      exclusively(`the changelog of partition ${partition} was read`, async () => {
        const { start, end } = await settledRange(link.cluster, changelogTopic, partition);
        const sink = (_offset: number, _ms: number, key: Buffer | null, value: Buffer | null) => {
          if (key !== null) onRecord(key, value);
        };
        const onPosition = async (offset: number) => {
          ended.signal.throwIfAborted();
          await onProgress?.(end === start ? 1 : (offset - start) / (end - start));
        };
        await onPosition(start);
        await readPartition(link.cluster, { topic: changelogTopic, partition, from: start, end, onPosition }, sink);
        await onPosition(end);
      }),
    commit: (outputs: readonly OutputRecord[], nextOffset: number, metadata: string | null = null) => {
      const records = outputs.length;
      const drain = once(outputs);
      return exclusively(`partition ${partition} was committed`, async () => {
        const startMs = performance.now();
        const leaderEpoch = options.epochs.before(partition, nextOffset);
        await producer.commit(drain(), { groupId, topic, partition, offset: nextOffset, leaderEpoch, metadata });
        options.onCommit?.({ partition, records, durationMs: performance.now() - startMs });
      });
    },
    close: async () => {
      end();
      link.destroy();
    },
  };
}

/** Hands over what it holds, once: what is held while a transaction commits becomes old, and is collected late. */
function once<T>(held: readonly T[]): () => readonly T[] {
  let left = held;
  return () => {
    const drained = left;
    left = [];
    return drained;
  };
}
