import { type KafkaConnection, withCluster } from '../cluster/connection.ts';
import { errorFromCode } from '../cluster/kafkajs.ts';

const TOPIC_AUTHORIZATION_FAILED = 29;
/** Bits of what a user may do with a topic. */
const BITS = { Read: 1 << 3, Write: 1 << 4 } as const;

type TopicUse = readonly [topic: string, operation: keyof typeof BITS];

/**
 * Throws a ServiceError `configuration` that names the first permission that the user does not have. Brokers before
 * Kafka 2.8 do not answer: there the first request that needs it fails.
 */
export function requirePermissions(connection: KafkaConnection, uses: readonly TopicUse[]): Promise<void> {
  const names = [...new Set(uses.map(([topic]) => topic))];
  return withCluster(connection, { topics: names, doing: 'checking permissions' }, ({ brokerPool }) => {
    const described = brokerPool.metadata?.topicMetadata ?? [];
    for (const [topic, operation] of uses) {
      const { operations = 0 } = described.find((each) => each.topic === topic) ?? {};
      if (operations <= 0 || (operations & BITS[operation]) !== 0) continue;
      throw errorFromCode(TOPIC_AUTHORIZATION_FAILED, operation, 'topic', topic);
    }
  });
}
