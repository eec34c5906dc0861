import type { OutputRecord } from '../log.ts';
import { protocolErrorType } from './failure.ts';
import type { Broker, Cluster } from './kafkajs-internals.ts';
import { type PartitionBatch, produceBatches } from './produce.ts';
import { encodeRecordBatch } from './record-batch-encoder.ts';
import { type Patience, withPatience } from './retry.ts';
import { type PlannedBatch, planRounds } from './transaction-plan.ts';

/** After this long the broker aborts a transaction that its owner left open, and readers of its topics go on. */
const transactionMsMax = 30_000;
/** The broker is still ending the transaction before, or its coordinator is just starting up. */
const passing = new Set(['CONCURRENT_TRANSACTIONS', 'GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);
const patience: Patience = { firstMs: 4, nextMsMax: 50, totalMsMax: 10_000 };
const sequenceModulus = 2 ** 31;

const coordinatorOfGroup = 0;
const coordinatorOfTransaction = 1;

/** Offsets of the input topic that a transaction moves for a consumer group. */
export interface MovedOffset {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/**
 * The only living producer with its transactional id. After a rejected call it must be thrown away: what the broker has of the
 * transaction is unknown, and the next owner's fence settles it.
 */
export interface TransactionalProducer {
  /** Writes the records and moves the offset in one transaction. One call at a time. */
  commit(outputs: readonly OutputRecord[], moved: MovedOffset): Promise<void>;
  /**
   * Ends for good what an earlier producer with this id committed and the broker lost on the way: see `settleOffset`. Its records in
   * `places`, and the offsets it moved for the group, become visible.
   */
  finish(places: readonly TopicPartitions[], groupId: string): Promise<void>;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

/**
 * Fences every earlier producer with this id: when it resolves, their open transaction is aborted, or committed if that was
 * already decided, and whatever they send is refused.
 */
export async function fenceTransactionalProducer(
  cluster: Cluster,
  transactionalId: string,
  signal?: AbortSignal,
): Promise<TransactionalProducer> {
  const identity = await whilePassing(async () => {
    const coordinator = await cluster.findGroupCoordinator({
      groupId: transactionalId,
      coordinatorType: coordinatorOfTransaction,
    });
    const { producerId, producerEpoch } = await coordinator.initProducerId({
      transactionalId,
      transactionTimeout: transactionMsMax,
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
  /** The next sequence number of each `topic/partition`: brokers refuse a gap and ignore a repetition. */
  const sequences = new Map<string, number>();
  let groupCoordinatorId: number | null = null;

  const groupCoordinator = async (groupId: string): Promise<Broker> => {
    if (groupCoordinatorId !== null) return cluster.findBroker({ nodeId: groupCoordinatorId });
    const found = await cluster.findGroupCoordinator({ groupId, coordinatorType: coordinatorOfGroup });
    groupCoordinatorId = found.nodeId;
    return found;
  };

  const encode = ({ topic, partition, records }: PlannedBatch): PartitionBatch => {
    const at = `${topic}/${partition}`;
    const firstSequence = sequences.get(at) ?? 0;
    sequences.set(at, (firstSequence + records.length) % sequenceModulus);
    const { producerEpoch } = producer;
    const identity = { producerId: Number(producer.producerId), producerEpoch, firstSequence, transactional: true };
    return { topic, partition, batch: encodeRecordBatch(records, identity, Date.now()) };
  };

  /** One round after the other: an overlap could turn the order of two batches of a partition around. */
  const produce = async (rounds: readonly PlannedBatch[][]): Promise<void> => {
    for (const round of rounds) await produceBatches(cluster, round.map(encode), producer.transactionalId);
  };

  const moveOffset = async (coordinator: Broker, { groupId, topic, partition, offset }: MovedOffset): Promise<void> => {
    await whilePassing(() => coordinator.addOffsetsToTxn({ ...producer, groupId }));
    const keeper = await groupCoordinator(groupId);
    const topics = [{ topic, partitions: [{ partition, offset: String(offset) }] }];
    await whilePassing(() => keeper.txnOffsetCommit({ ...producer, groupId, topics }));
  };

  const announce = (coordinator: Broker, topics: readonly TopicPartitions[]) =>
    whilePassing(() => coordinator.addPartitionsToTxn({ ...producer, topics }));

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
        await announce(coordinator, topics);
      }
      await Promise.all([produce(rounds), moveOffset(coordinator, moved)]);
      await coordinator.endTxn({ ...producer, transactionResult: true });
    },
    async finish(places, groupId) {
      const coordinator = await cluster.findBroker({ nodeId: coordinatorId });
      await announce(coordinator, places);
      await whilePassing(() => coordinator.addOffsetsToTxn({ ...producer, groupId }));
      await coordinator.endTxn({ ...producer, transactionResult: true });
    },
  };
}

function whilePassing<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return withPatience(attempt, (error) => passing.has(protocolErrorType(error)), patience, signal);
}
