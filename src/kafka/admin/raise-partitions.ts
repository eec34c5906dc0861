import { type KafkaConnection, withCluster } from '../cluster/connection.ts';
import { isLeaderChange } from '../cluster/leader.ts';
import { type Backoff, retryWithBackoff } from '../cluster/retry.ts';
import { readPartition, stableRange } from '../fetch/partition-reader.ts';
import { asAdmin } from './admin-client.ts';

const UNTIL_LEADERS_ARE_KNOWN: Backoff = { initialMs: 20, delayMsMax: 500, totalMsMax: 30_000 };

/** Partition counts of topics. Throws a ServiceError. */
export function countPartitions(
  connection: KafkaConnection,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return asAdmin(connection, 'counting partitions', async (admin) => {
    const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topics] });
    return new Map(described.map(({ name, partitions }) => [name, partitions.length]));
  });
}

/** Gives topics more partitions, those that have fewer, and waits until they have leaders. */
export function raisePartitions(connection: KafkaConnection, topics: readonly string[], count: number): Promise<void> {
  return asAdmin(connection, `topics ${topics.join(', ')} got ${count} partitions`, async (admin) => {
    const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topics] });
    const fewer = described.filter(({ partitions }) => partitions.length < count).map(({ name }) => name);
    if (fewer.length === 0) return;
    await admin.createPartitions({ topicPartitions: fewer.map((topic) => ({ topic, count })) });
    for (const topic of fewer) {
      const look = async () => {
        if ((await admin.fetchTopicOffsets(topic)).length < count) throw NOT_YET;
      };
      const isRetryable = (error: unknown) => error === NOT_YET || isLeaderChange(error);
      await retryWithBackoff(look, { isRetryable, backoff: UNTIL_LEADERS_ARE_KNOWN });
    }
  });
}

const NOT_YET = new Error('the new partitions are not known yet');

/** Reads the keys of a partition's committed records from an offset on, or all of them. */
export function readKeys(
  connection: KafkaConnection,
  { topic, partition, from }: { readonly topic: string; readonly partition: number; readonly from: number | null },
  onKey: (key: Buffer | null) => void,
): Promise<void> {
  const doing = `reading partition ${partition} of ${topic}`;
  return withCluster(connection, { topics: [topic], doing }, async (cluster) => {
    const { start, end } = await stableRange(cluster, topic, partition);
    const range = { topic, partition, from: Math.max(start, from ?? start), end };
    await readPartition(cluster, range, (_offset, _ms, key) => onKey(key));
  });
}
