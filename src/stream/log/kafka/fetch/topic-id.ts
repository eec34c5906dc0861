import { type Broker, type Cluster, errorFromCode } from '../cluster/kafkajs-internals.ts';
import { array, first, i8, i16, i32, string, struct, uuid } from '../cluster/protocol-fields.ts';
import { ask } from '../cluster/protocol-request.ts';

/** kafkajs's own request is older than topic ids. */
const METADATA = {
  name: 'Metadata',
  key: 3,
  version: 10,
  isCompact: true,
  request: {
    topics: array(struct({ id: uuid, topic: string })),
    allowAutoTopicCreation: i8,
    includeClusterOperations: i8,
    includeTopicOperations: i8,
  },
  answer: {
    clientSideThrottleTime: i32,
    brokers: array(struct({ nodeId: i32, host: string, port: i32, rack: string })),
    clusterId: string,
    controllerId: i32,
    topic: first({ errorCode: i16, topic: string, id: uuid }),
  },
};
const NO_ID = '0'.repeat(32);

/** The id of a topic; null where it cannot be found out. Brokers before Kafka 2.8 close the connection. */
export async function knownTopicId(cluster: Cluster, topic: string): Promise<string | null> {
  const leader = cluster.findTopicPartitionMetadata(topic).find((partition) => partition.leader >= 0)?.leader;
  if (leader === undefined) return null;
  return fetchTopicId(await cluster.findBroker({ nodeId: leader }), topic).catch(() => null);
}

/** The id of a topic, in hexadecimal. It changes when a topic is deleted and created anew under its name. */
export async function fetchTopicId(broker: Broker, topic: string): Promise<string | null> {
  const { topic: found } = await ask(broker, METADATA, {
    topics: [{ id: NO_ID, topic }],
    allowAutoTopicCreation: 0,
    includeClusterOperations: 0,
    includeTopicOperations: 0,
  });
  if (found === null) return null;
  if (found.errorCode !== 0) throw errorFromCode(found.errorCode);
  return found.id === NO_ID ? null : found.id;
}
