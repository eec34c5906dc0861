import { type Compression, compressBatch } from '../batch/compressed-batch.ts';
import { encodeRecordBatch } from '../batch/record-batch-encoder.ts';
import type { OutputRecord } from '../batch/records.ts';
import { giveBackBatch, giveBackRecords } from '../batch/reused-bytes.ts';
import { Coordinator, GROUP_COORDINATOR, TRANSACTION_COORDINATOR } from '../cluster/coordinator.ts';
import { isConnectionFailure } from '../cluster/failure.ts';
import type { RetryOptions } from '../cluster/retry.ts';
import type { Cluster } from '../protocol/protocol-request.ts';
import { commitInTransaction, type MovedOffset } from './committed-offset.ts';
import { type PartitionBatch, produceBatches } from './produce.ts';
import { type PlannedBatch, planRounds } from './transaction-plan.ts';
import {
  addOffsets,
  addPartitions,
  endTransaction,
  initProducer,
  type ProducerIdentity,
  type TopicPartitions,
  type TransactionProtocol,
} from './transaction-requests.ts';
import { fetchTransactionState, type TransactionState, wasDecidedToCommit } from './transaction-state.ts';

/** After this time the broker aborts an open transaction, and readers of its topics can continue. */
export const TRANSACTION_MS_MAX = 30_000;
const SEQUENCE_MODULUS = 2 ** 31;
/** The feature of a cluster that decides the protocol of transactions, and the level of the second version. */
const TRANSACTION_FEATURE = 'transaction.version';
const V2_LEVEL = 2;
/** A transactional id is in this state after a fence, until its next transaction. */
const FENCED_STATE = 'Empty';

/**
 * The only producer with its transactional id that is not fenced. After a rejected call it must be discarded: the state
 * of the transaction on the broker is unknown. The next fence ends that transaction.
 */
export interface TransactionalProducer {
  /**
   * Writes the records and commits the offset in one transaction. One call at a time. Their values may be used again
   * when it returns.
   */
  commit(outputs: readonly OutputRecord[], moved: MovedOffset): Promise<void>;
  /** True if the last transaction of an earlier producer with this id was to be committed. */
  readonly earlierCommit: boolean;
  /**
   * Completes the last transaction of an earlier producer with this id whose markers the broker lost, as it was
   * decided: see `settleOffset`. Its records in `places` and its offsets of the group become visible, or are discarded.
   */
  finish(places: readonly TopicPartitions[], groupId: string): Promise<void>;
}

interface ProducerOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: RetryOptions['onRetry'];
  /** Without it nothing is compressed. */
  readonly compressionOf?: (topic: string) => Compression;
  /** Instead of TRANSACTION_MS_MAX. */
  readonly transactionMs?: number;
}

/**
 * Fences every earlier producer with this id. When it resolves, their open transaction is aborted, or committed if that
 * was already decided, and their further requests are refused.
 */
export async function fenceTransactionalProducer(
  cluster: Cluster,
  transactionalId: string,
  { signal, onRetry, compressionOf = () => 'none', transactionMs = TRANSACTION_MS_MAX }: ProducerOptions = {},
): Promise<TransactionalProducer> {
  const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: transactionalId, signal, onRetry });
  let before: TransactionState | null = null;
  let unanswered = 0;
  const producer = await coordinator.send(async (broker) => {
    const state = await fetchTransactionState(broker, transactionalId);
    // The fence overwrites it; one without an answer may have done so.
    if (unanswered === 0 || state?.state !== FENCED_STATE) before = state;
    // Not the true owner: the partition may be another one's since.
    signal?.throwIfAborted();
    return initProducer(broker, { transactionalId, transactionMs }).catch((error: unknown) => {
      if (isConnectionFailure(error)) unanswered++;
      throw error;
    });
  });
  const earlierCommit = wasDecidedToCommit(before, { epoch: producer.producerEpoch, unanswered });
  return createProducer({ cluster, coordinator, signal, onRetry, earlierCommit, compressionOf }, producer);
}

interface ProducerParts extends ProducerOptions {
  readonly cluster: Cluster;
  readonly coordinator: Coordinator;
  readonly earlierCommit: boolean;
  readonly compressionOf: (topic: string) => Compression;
}

/** All requests of a transaction may be repeated: a coordinator ignores what it has done already. */
function createProducer(
  { cluster, coordinator, signal, onRetry, earlierCommit, compressionOf }: ProducerParts,
  fenced: ProducerIdentity,
): TransactionalProducer {
  let producer = fenced;
  /** The next sequence number of this epoch by `topic/partition`. Brokers refuse a gap and ignore a repetition. */
  const sequences = new Map<string, number>();
  const groups = new Map<string, Coordinator>();

  const groupCoordinator = (id: string): Coordinator => {
    const found = groups.get(id) ?? new Coordinator(cluster, { type: GROUP_COORDINATOR, id, signal, onRetry });
    groups.set(id, found);
    return found;
  };

  const encode = ({ topic, partition, records }: PlannedBatch): PartitionBatch => {
    const at = `${topic}/${partition}`;
    const firstSequence = sequences.get(at) ?? 0;
    sequences.set(at, (firstSequence + records.length) % SEQUENCE_MODULUS);
    const { producerId, producerEpoch } = producer;
    const identity = { producerId, producerEpoch, firstSequence, transactional: true };
    const batch = encodeRecordBatch(records, identity, Date.now());
    const compressed = compressBatch(batch, compressionOf(topic));
    if (compressed !== batch) giveBackBatch(batch);
    return { topic, partition, batch: compressed };
  };

  /** One round after the other: overlapping rounds could change the order of a partition's batches. */
  const produce = async (rounds: readonly PartitionBatch[][], protocol: TransactionProtocol): Promise<void> => {
    const transaction = { id: producer.transactionalId, protocol };
    for (const round of rounds) {
      const attempts = await produceBatches(cluster, round, { transaction, signal, onRetry });
      // A request without an answer may still be on its way.
      if (attempts === 1) for (const { batch } of round) giveBackBatch(batch);
    }
  };

  const addAndProduce = async (rounds: readonly PartitionBatch[][], groupId: string): Promise<void> => {
    const byTopic = Map.groupBy(rounds[0] ?? [], ({ topic }) => topic);
    if (byTopic.size > 0) {
      const topics = [...byTopic].map(([topic, batches]) => ({
        topic,
        partitions: batches.map(({ partition }) => partition),
      }));
      await coordinator.send((broker) => addPartitions(broker, producer, topics));
    }
    await Promise.all([produce(rounds, 'v1'), coordinator.send((broker) => addOffsets(broker, producer, groupId))]);
  };

  const end = async (commits: boolean, protocol: TransactionProtocol): Promise<void> => {
    const next = await coordinator.send((broker) => endTransaction(broker, producer, { commits, protocol }));
    if (next !== producer) sequences.clear();
    producer = next;
  };

  const commitRounds = async (rounds: readonly PartitionBatch[][], moved: MovedOffset): Promise<void> => {
    // Not awaited: only a broker that hangs would be noticed. Moved leaders are looked up by their errors.
    cluster.refreshMetadataIfNecessary().catch(() => undefined);
    // Read before each transaction: an operator changes the feature while its clients run.
    const protocol = (cluster.features.get(TRANSACTION_FEATURE) ?? 0) >= V2_LEVEL ? 'v2' : 'v1';
    if (protocol === 'v2') await produce(rounds, protocol);
    else await addAndProduce(rounds, moved.groupId);
    // Not together with the records: for each a broker sends a request about the transaction to its coordinator
    // (KIP-890). Of two of one producer that wait together it refuses one.
    const { groupId } = moved;
    await groupCoordinator(groupId).send((broker) => commitInTransaction(broker, { producer, protocol }, moved));
    await end(true, protocol);
  };

  return {
    earlierCommit,
    commit(outputs, moved) {
      // At once, so that nothing holds the records until the transaction has ended.
      const rounds = planRounds(outputs).map((round) => round.map(encode));
      giveBackRecords(outputs);
      return commitRounds(rounds, moved);
    },
    async finish(places, groupId) {
      await coordinator.send((broker) => addPartitions(broker, producer, places));
      await coordinator.send((broker) => addOffsets(broker, producer, groupId));
      // As it began: its partitions were added one by one.
      await end(earlierCommit, 'v1');
    },
  };
}
