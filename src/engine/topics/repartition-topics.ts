import type { RekeyedInput } from '../../config/rekeyed-input.ts';
import { asAdmin, makeTopics } from '../../kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import type { Admin } from '../../kafka/cluster/kafkajs.ts';
import { checkTopics, ensureTopics, type TopicCreation } from './topic-admin.ts';

/**
 * Creates the topics of a repartition that are missing, the input among them. Returns the names of the created ones.
 * Records that wait to be scored are kept regardless of their time: `deleteScored` removes them.
 * @param scores a topic whose partition count the records that are scored have, where it exists
 */
export async function ensureRepartition(
  connection: KafkaConnection,
  repartition: RekeyedInput,
  { scores, ...creation }: TopicCreation & { readonly scores: string },
): Promise<readonly string[]> {
  const { topic, topics } = repartition;
  const { partitions, made } = await asAdmin(connection, 'creating topics', async (admin) => {
    const existing = new Set(await admin.listTopics());
    const countOf = (name: string) => (existing.has(name) ? partitionsOf(admin, name) : creation.partitions);
    if (!existing.has(topic)) {
      const plan = {
        topic,
        numPartitions: await countOf(scores),
        replicationFactor: creation.replicationFactor,
        configEntries: [{ name: 'retention.ms', value: '-1' }],
      };
      await makeTopics(admin, [plan]);
    }
    return { partitions: await countOf(topics.observations), made: existing.has(topic) ? [] : [topic] };
  });
  return [...made, ...(await ensureTopics(connection, countedTopics(repartition), { ...creation, partitions }))];
}

/** Checks that input and changelog of a repartition exist and fit together. Throws a ServiceError `topic-mismatch`. */
export async function checkRepartition(connection: KafkaConnection, repartition: RekeyedInput): Promise<void> {
  await checkTopics(connection, countedTopics(repartition));
}

/** Those that have the partition count of the input. */
function countedTopics({ topics }: RekeyedInput): RekeyedInput['topics'] {
  const { observations } = topics;
  return { ...topics, scores: observations, events: observations };
}

async function partitionsOf(admin: Admin, topic: string): Promise<number> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  return topics[0].partitions.length;
}

/** Deletes the records of a topic that a group has committed. Returns how many that were, at most. */
export function deleteCommitted(
  connection: KafkaConnection,
  { groupId, topic }: { readonly groupId: string; readonly topic: string },
): Promise<number> {
  return asAdmin(connection, `deleting records of ${topic}`, async (admin) => {
    const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const begins = new Map(
      (await admin.fetchTopicOffsets(topic)).map(({ partition, low }) => [partition, Number(low)]),
    );
    const partitions = committed.partitions.filter(
      ({ partition, offset }) => Number(offset) > (begins.get(partition) ?? 0),
    );
    if (partitions.length === 0) return 0;
    await admin.deleteTopicRecords({
      topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    });
    return partitions.reduce((sum, { partition, offset }) => sum + Number(offset) - (begins.get(partition) ?? 0), 0);
  });
}
