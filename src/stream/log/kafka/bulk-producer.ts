import kafkajs from 'kafkajs';
import { type KafkaConnection, linkCluster } from './connection.ts';
import { explainFailure } from './failure.ts';
import { produceBatches } from './produce.ts';
import { type EncodableRecord, encodeRecordBatch } from './record-batch-encoder.ts';
import { planRounds } from './transaction-plan.ts';

/** Without a `partition` the key decides, as Kafka's own clients decide (murmur2). */
export interface FeedRecord extends EncodableRecord {
  readonly partition?: number;
}

/** Writes records outside of any transaction. */
export interface Feed {
  /** Resolves when every record is written by all in-sync replicas. After a rejection some may be, and some twice if sent again. */
  send(records: readonly FeedRecord[]): Promise<void>;
  close(): Promise<void>;
}

const noIdentity = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };

/** Opens a topic for writing. Throws a ServiceError. */
export async function openFeed(connection: KafkaConnection, topic: string): Promise<Feed> {
  const partitioner = kafkajs.Partitioners.DefaultPartitioner();
  const link = await explained(topic, () => linkCluster(connection, [topic]));
  const partitionOf = (record: FeedRecord, partitionMetadata: Parameters<typeof partitioner>[0]['partitionMetadata']) =>
    record.partition ?? partitioner({ topic, partitionMetadata, message: { key: record.key, value: record.value } });
  return {
    send: (records) =>
      explained(topic, async () => {
        await link.cluster.refreshMetadataIfNecessary();
        const metadata = link.cluster.findTopicPartitionMetadata(topic) as Parameters<typeof partitionOf>[1];
        const placed = records.map((record) => ({ ...record, topic, partition: partitionOf(record, metadata) }));
        for (const round of planRounds(placed)) {
          const batches = round.map(({ partition, records: planned }) => {
            return { topic, partition, batch: encodeRecordBatch(planned, noIdentity, Date.now()) };
          });
          await produceBatches(link.cluster, batches, null);
        }
      }),
    close: async () => link.destroy(),
  };
}

/** Opens, sends, closes. */
export async function produceRecords(
  connection: KafkaConnection,
  topic: string,
  records: readonly FeedRecord[],
): Promise<void> {
  const feed = await openFeed(connection, topic);
  try {
    await feed.send(records);
  } finally {
    await feed.close();
  }
}

async function explained<T>(topic: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainFailure(error, `records were written to ${topic}`);
  }
}
