import type { OutputRecord } from '../log.ts';
import type { GroupPartition } from './committed-offset.ts';
import { protocolErrorType } from './failure.ts';
import type { Broker, Cluster } from './kafkajs-internals.ts';
import { type PartitionBatch, produceBatches } from './produce.ts';
import { encodeRecordBatch } from './record-batch-encoder.ts';
import { type Backoff, retryWithBackoff } from './retry.ts';
import { type PlannedBatch, planRounds } from './transaction-plan.ts';

/** After this time the broker aborts an open transaction, and readers of its topics can continue. */
const TRANSACTION_MS_MAX = 30_000;
/** The previous transaction is still being completed, or the coordinator is starting. */
const TRANSIENT = new Set(['CONCURRENT_TRANSACTIONS', 'GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);
const BACKOFF: Backoff = { initialMs: 4, delayMsMax: 50, totalMsMax: 10_000 };
const SEQUENCE_MODULUS = 2 ** 31;

const GROUP_COORDINATOR = 0;
const TRANSACTION_COORDINATOR = 1;

/** The input offset that a transaction commits for a consumer group. */
export interface MovedOffset extends GroupPartition {
  readonly offset: number;
}

/**
 * The only producer with its transactional id that is not fenced. After a rejected call it must be discarded: the state
 * of the transaction on the broker is unknown. The next fence ends that transaction.
 */
export interface TransactionalProducer {
  /** Writes the records and commits the offset in one transaction. One call at a time. */
  commit(outputs: readonly OutputRecord[], moved: MovedOffset): Promise<void>;
  /**
   * Completes the commit of an earlier producer with this id whose markers the broker lost: see `settleOffset`. Its
   * records in `places` and its offsets of the group become visible.
   */
  finish(places: readonly TopicPartitions[], groupId: string): Promise<void>;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/**
 * Fences every earlier producer with this id. When it resolves, their open transaction is aborted, or committed if that
 * was already decided, and their further requests are refused.
 */
export async function fenceTransactionalProducer(
  cluster: Cluster,
  transactionalId: string,
  signal?: AbortSignal,
): Promise<TransactionalProducer> {
  const identity = await retryTransient(async () => {
    const coordinator = await cluster.findGroupCoordinator({
      groupId: transactionalId,
      coordinatorType: TRANSACTION_COORDINATOR,
    });
    const { producerId, producerEpoch } = await coordinator.initProducerId({
      transactionalId,
      transactionTimeout: TRANSACTION_MS_MAX,
    });
    return { coordinatorId: coordinator.nodeId, producer: { transactionalId, producerId, producerEpoch } };
  }, signal);
  return createProducer(cluster, identity.coordinatorId, identity.producer);
}

interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: string;
  readonly producerEpoch: number;
}

function createProducer(cluster: Cluster, coordinatorId: number, producer: ProducerIdentity): TransactionalProducer {
  /** The next sequence number by `topic/partition`. Brokers refuse a gap and ignore a repetition. */
  const sequences = new Map<string, number>();
  let groupCoordinatorId: number | null = null;

  const groupCoordinator = async (groupId: string): Promise<Broker> => {
    if (groupCoordinatorId !== null) return cluster.findBroker({ nodeId: groupCoordinatorId });
    const found = await cluster.findGroupCoordinator({ groupId, coordinatorType: GROUP_COORDINATOR });
    groupCoordinatorId = found.nodeId;
    return found;
  };

  const encode = ({ topic, partition, records }: PlannedBatch): PartitionBatch => {
    const at = `${topic}/${partition}`;
    const firstSequence = sequences.get(at) ?? 0;
    sequences.set(at, (firstSequence + records.length) % SEQUENCE_MODULUS);
    const { producerEpoch } = producer;
    const identity = { producerId: Number(producer.producerId), producerEpoch, firstSequence, transactional: true };
    return { topic, partition, batch: encodeRecordBatch(records, identity, Date.now()) };
  };

  /** One round after the other: overlapping rounds could change the order of a partition's batches. */
  const produce = async (rounds: readonly PlannedBatch[][]): Promise<void> => {
    for (const round of rounds) await produceBatches(cluster, round.map(encode), producer.transactionalId);
  };

  const commitOffset = async (
    coordinator: Broker,
    { groupId, topic, partition, offset }: MovedOffset,
  ): Promise<void> => {
    await retryTransient(() => coordinator.addOffsetsToTxn({ ...producer, groupId }));
    const keeper = await groupCoordinator(groupId);
    const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }];
    await retryTransient(() => keeper.txnOffsetCommit({ ...producer, groupId, topics }));
  };

  const addPartitions = (coordinator: Broker, topics: readonly TopicPartitions[]) =>
    retryTransient(() => coordinator.addPartitionsToTxn({ ...producer, topics }));

  return {
    async commit(outputs, moved) {
      await cluster.refreshMetadataIfNecessary();
      const coordinator = await cluster.findBroker({ nodeId: coordinatorId });
      const rounds = planRounds(outputs);
      const byTopic = Map.groupBy(rounds[0] ?? [], ({ topic }) => topic);
      if (byTopic.size > 0) {
        const topics = [...byTopic].map(([topic, batches]) => ({
          topic,
          partitions: batches.map(({ partition }) => partition),
        }));
        await addPartitions(coordinator, topics);
      }
      await Promise.all([produce(rounds), commitOffset(coordinator, moved)]);
      await coordinator.endTxn({ ...producer, transactionResult: true });
    },
    async finish(places, groupId) {
      const coordinator = await cluster.findBroker({ nodeId: coordinatorId });
      await addPartitions(coordinator, places);
      await retryTransient(() => coordinator.addOffsetsToTxn({ ...producer, groupId }));
      await coordinator.endTxn({ ...producer, transactionResult: true });
    },
  };
}

function retryTransient<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const isRetryable = (error: unknown) => TRANSIENT.has(protocolErrorType(error));
  return retryWithBackoff(attempt, { isRetryable, backoff: BACKOFF, signal });
}
