import { encodeRecordBatch } from '../batch/record-batch-encoder.ts';
import type { EncodableRecord } from '../batch/records.ts';
import { type KafkaConnection, linkCluster } from '../cluster/connection.ts';
import { explainFailure } from '../cluster/failure.ts';
import { recordPartitioner } from './key-partition.ts';
import { produceBatches } from './produce.ts';
import { planRounds } from './transaction-plan.ts';

/** Without `partition` the partition is chosen by the key's murmur2 hash, as in Kafka's own clients. */
export interface ProducerRecord extends EncodableRecord {
  readonly partition?: number;
}

/** Writes records to one topic outside of transactions. */
export interface BulkProducer {
  /**
   * Resolves when all in-sync replicas have every record. After a rejection some records may be written; sending them
   * again may write them twice.
   */
  send(records: readonly ProducerRecord[]): Promise<void>;
  /** Rejects where no broker answers. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const NO_IDENTITY = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };

/** Opens a topic for writing. Throws a ServiceError. */
export async function openBulkProducer(connection: KafkaConnection, topic: string): Promise<BulkProducer> {
  const partitionOf = recordPartitioner();
  const link = await explained(topic, () => linkCluster(connection, [topic]));
  return {
    send: (records) =>
      explained(topic, async () => {
        await link.cluster.refreshMetadataIfNecessary();
        const metadata = link.cluster.findTopicPartitionMetadata(topic);
        const placed = records.map((record) => {
          return { ...record, topic, partition: record.partition ?? partitionOf(record.key, metadata) };
        });
        for (const round of planRounds(placed)) {
          const batches = round.map(({ partition, records: planned }) => {
            return { topic, partition, batch: encodeRecordBatch(planned, NO_IDENTITY, Date.now()) };
          });
          await produceBatches(link.cluster, batches, { transaction: null });
        }
      }),
    check: () => explained(topic, () => link.cluster.refreshMetadata()),
    close: async () => link.destroy(),
  };
}

/** Opens a bulk producer, sends the records and closes it. */
export async function produceRecords(
  connection: KafkaConnection,
  topic: string,
  records: readonly ProducerRecord[],
): Promise<void> {
  const producer = await openBulkProducer(connection, topic);
  try {
    await producer.send(records);
  } finally {
    await producer.close();
  }
}

async function explained<T>(topic: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainFailure(error, `records were written to ${topic}`);
  }
}
