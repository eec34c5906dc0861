import { ServiceError } from '../../../service-error.ts';
import type { OutputRecord, PartitionSession } from '../log.ts';
import { fetchCommittedOffset } from './committed-offset.ts';
import { type ClusterLink, type KafkaConnection, linkCluster } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import type { Cluster } from './kafkajs-internals.ts';
import { readPartition, stableRange } from './partition-reader.ts';
import { type Patience, withPatience } from './retry.ts';
import { fenceTransactionalProducer, type TransactionalProducer } from './transactional-producer.ts';

const untilBrokerIsBack: Patience = { firstMs: 100, nextMsMax: 1_000, totalMsMax: Number.POSITIVE_INFINITY };

export interface SessionOptions {
  readonly groupId: string;
  readonly inputTopic: string;
  readonly changelogTopic: string;
  readonly scoresTopic: string;
  readonly deadLettersTopic: string;
  /** One id per input partition, for ever: whoever uses it next fences this session. */
  readonly transactionalId: string;
  readonly onCommit?: (commit: CommitReport) => void;
}

export interface CommitReport {
  readonly partition: number;
  readonly records: number;
  readonly durationMs: number;
}

/**
 * Takes a partition over: fences first, then reads the committed offset, so that no earlier owner can move it any more. Tries
 * again while Kafka is out of reach, until `signal` aborts; its reason is thrown then.
 */
export async function openPartitionSession(
  connection: KafkaConnection,
  options: SessionOptions,
  partition: number,
  signal?: AbortSignal,
): Promise<PartitionSession> {
  const attempt = async () => {
    try {
      return await open(connection, options, partition, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const failure = explainFailure(error, `partition ${partition} was taken over`);
      connection.log?.('warn', failure.message, { partition });
      throw failure;
    }
  };
  return withPatience(attempt, (error) => error instanceof ServiceError && error.retryable, untilBrokerIsBack, signal);
}

async function open(
  connection: KafkaConnection,
  options: SessionOptions,
  partition: number,
  signal: AbortSignal | undefined,
): Promise<PartitionSession> {
  const { inputTopic, changelogTopic, scoresTopic, deadLettersTopic } = options;
  const link = await linkCluster(connection, [inputTopic, changelogTopic, scoresTopic, deadLettersTopic]);
  signal?.addEventListener('abort', link.destroy);
  try {
    const producer = await fenceTransactionalProducer(link.cluster, options.transactionalId, signal);
    const committedOffset = await settleOffset(connection, link, producer, options, partition);
    return createSession(link, producer, options, partition, committedOffset);
  } catch (error) {
    link.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', link.destroy);
  }
}

/** A moment for a broker whose coordinators have not told each other yet. */
const soon: Patience = { firstMs: 50, nextMsMax: 100, totalMsMax: 400 };
/** Longer than any transaction is left open. */
const untilSettled: Patience = { firstMs: 50, nextMsMax: 1_000, totalMsMax: 45_000 };

/**
 * The first input offset that no commit covers; without any, the oldest record that is still there.
 *
 * After the fence no transaction of ours is open, so the offset is stable. It is not when a broker crashed between the promise to
 * commit and the markers that carry it out, and gave the markers up at its restart because the partitions had no leader just then
 * (seen with Kafka 4.3 on one node). Outputs and offset then hang in the air, and the next commit would make them visible beside
 * outputs that were computed anew. Ending them first, as was promised, keeps everything exactly once.
 */
async function settleOffset(
  connection: KafkaConnection,
  { cluster }: ClusterLink,
  producer: TransactionalProducer,
  options: SessionOptions,
  partition: number,
): Promise<number> {
  const { groupId, inputTopic } = options;
  const coordinator = await cluster.findGroupCoordinator({ groupId, coordinatorType: 0 });
  const unstable = (error: unknown) => protocolErrorType(error) === 'UNSTABLE_OFFSET_COMMIT';
  const read = (patience: Patience) =>
    withPatience(() => fetchCommittedOffset(coordinator, groupId, inputTopic, partition), unstable, patience);
  const committed = await read(soon).catch(async (error: unknown) => {
    if (!unstable(error)) throw error;
    connection.log?.('warn', `A broker left a commit of partition ${partition} unfinished; it is finished now`, {
      partition,
    });
    await producer.finish(placesOf(cluster, options, partition), groupId);
    return read(untilSettled);
  });
  return committed ?? (await stableRange(cluster, inputTopic, partition)).start;
}

/** Everywhere a commit of this partition may have written. */
function placesOf(
  cluster: Cluster,
  { changelogTopic, scoresTopic, deadLettersTopic }: SessionOptions,
  partition: number,
) {
  const deadLetters = cluster.findTopicPartitionMetadata(deadLettersTopic).map(({ partitionId }) => partitionId);
  return [
    { topic: changelogTopic, partitions: [partition] },
    { topic: scoresTopic, partitions: [partition] },
    { topic: deadLettersTopic, partitions: deadLetters },
  ];
}

function createSession(
  link: ClusterLink,
  producer: TransactionalProducer,
  options: SessionOptions,
  partition: number,
  committedOffset: number,
): PartitionSession {
  const { groupId, inputTopic: topic, changelogTopic } = options;
  let state = 'idle' as 'idle' | 'busy' | 'dead';

  /** Any failure ends the session. */
  const alone = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    if (state !== 'idle') throw new ServiceError('internal', `The session of partition ${partition} is ${state}`);
    state = 'busy';
    try {
      const result = await work();
      if (state === 'busy') state = 'idle';
      return result;
    } catch (error) {
      state = 'dead';
      throw explainFailure(error, doing);
    }
  };

  return {
    partition,
    committedOffset,
    readChangelog: (onRecord) =>
      alone(`the changelog of partition ${partition} was read`, async () => {
        const { start, end } = await stableRange(link.cluster, changelogTopic, partition);
        const sink = (_offset: number, _ms: number, key: Buffer | null, value: Buffer | null) => {
          if (key !== null) onRecord(key, value);
        };
        await readPartition(link.cluster, changelogTopic, partition, { from: start, end }, sink);
      }),
    commit: (outputs: readonly OutputRecord[], nextOffset: number) =>
      alone(`partition ${partition} was committed`, async () => {
        const startMs = performance.now();
        await producer.commit(outputs, { groupId, topic, partition, offset: nextOffset });
        options.onCommit?.({ partition, records: outputs.length, durationMs: performance.now() - startMs });
      }),
    close: async () => {
      state = 'dead';
      link.destroy();
    },
  };
}
