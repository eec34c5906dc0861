import { ServiceError } from '../../service-error.ts';
import type { OutputRecord, PartitionSession } from '../log.ts';
import { type ClusterLink, type KafkaConnection, linkCluster } from './connection.ts';
import { explainFailure } from './failure.ts';
import type { Cluster } from './kafkajs-internals.ts';
import { readPartition, stableRange } from './partition-reader.ts';
import { type Patience, withPatience } from './patience.ts';
import { fenceTransactionalProducer, type TransactionalProducer } from './transactional-producer.ts';

const untilBrokerIsBack: Patience = { firstMs: 100, nextMsMax: 1_000, totalMsMax: Number.POSITIVE_INFINITY };

export interface SessionOptions {
  readonly groupId: string;
  readonly inputTopic: string;
  readonly changelogTopic: string;
  /** Topics that commits write to, known in advance so that the first commit need not ask for them. */
  readonly outputTopics: readonly string[];
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
  const { inputTopic, changelogTopic, outputTopics } = options;
  const link = await linkCluster(connection, [...new Set([inputTopic, changelogTopic, ...outputTopics])]);
  signal?.addEventListener('abort', link.destroy);
  try {
    const producer = await fenceTransactionalProducer(link.cluster, options.transactionalId, signal);
    const committedOffset = await readCommittedOffset(link.cluster, options.groupId, inputTopic, partition);
    return createSession(link, producer, options, partition, committedOffset);
  } catch (error) {
    link.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', link.destroy);
  }
}

/** Without a committed offset the oldest record that is still there. */
async function readCommittedOffset(
  cluster: Cluster,
  groupId: string,
  topic: string,
  partition: number,
): Promise<number> {
  const coordinator = await cluster.findGroupCoordinator({ groupId, coordinatorType: 0 });
  const { responses } = await coordinator.offsetFetch({ groupId, topics: [{ topic, partitions: [{ partition }] }] });
  const offset = Number(responses[0]?.partitions[0]?.offset ?? -1);
  return offset >= 0 ? offset : (await stableRange(cluster, topic, partition)).start;
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
