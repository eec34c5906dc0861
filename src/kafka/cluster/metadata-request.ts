import type { Broker } from './cluster.ts';
import { array, i8, i16, i32, string, struct, uuid } from './protocol-fields.ts';
import { sendRequest } from './protocol-request.ts';

const NO_ID = '0'.repeat(32);
const REPLICA_NOT_AVAILABLE = 9;

/** Without a name: all topics. */
function namesOf<T>(names: ReturnType<typeof array<T>>): ReturnType<typeof array<T>> {
  return {
    write: (writer, named) => (named.length === 0 ? writer.length(-1, i32) : names.write(writer, named)),
    read: names.read,
  };
}

const nodes = array(i32);
const partitionMetadata = array(
  struct({
    partitionErrorCode: i16,
    partitionId: i32,
    leader: i32,
    leaderEpoch: i32,
    replicas: nodes,
    isr: nodes,
    offlineReplicas: nodes,
  }),
);
const CLUSTER = {
  clientSideThrottleTime: i32,
  brokers: array(struct({ nodeId: i32, host: string, port: i32, rack: string })),
  clusterId: string,
  controllerId: i32,
};
const TOPIC = { topicErrorCode: i16, topic: string };
/** From version 7 on (kafkajs stops at 6) the answer has the epoch of each leader. */
const WITH_EPOCHS = {
  name: 'Metadata',
  key: 3,
  version: 7,
  isCompact: false,
  request: { topics: namesOf(array(string)), allowAutoTopicCreation: i8 },
  answer: { ...CLUSTER, topicMetadata: array(struct({ ...TOPIC, isInternal: i8, partitionMetadata })) },
};
/** From version 10 on (Kafka 2.8) it has topic ids. */
const WITH_IDS = {
  name: 'Metadata',
  key: 3,
  version: 10,
  isCompact: true,
  request: {
    topics: namesOf(array(struct({ id: uuid, topic: string }))),
    allowAutoTopicCreation: i8,
    includeClusterOperations: i8,
    includeTopicOperations: i8,
  },
  answer: {
    ...CLUSTER,
    topicMetadata: array(struct({ ...TOPIC, id: uuid, isInternal: i8, partitionMetadata, operations: i32 })),
  },
};

export const METADATA = WITH_IDS.key;
export const METADATA_VERSIONS = [WITH_EPOCHS.version, WITH_IDS.version];

/**
 * Metadata as kafkajs's cluster reads them, and with each partition the epoch of its leader and the id of its topic, in
 * hexadecimal. kafkajs would refuse the whole answer where one partition has an error, e.g. no leader: then all
 * partitions of all topics would stall. Here such a partition has leader -1, and the others are used.
 */
export async function fetchMetadata(broker: Broker, version: number, named: readonly string[]) {
  const { brokers, ...answer } =
    version < WITH_IDS.version ? await fetchWithEpochs(broker, named) : await fetchWithIds(broker, named);
  const topicMetadata = answer.topicMetadata.map(({ id, partitionMetadata: partitions, ...topic }) => {
    const topicId = id === NO_ID ? null : id;
    const known = partitions.map((partition) => ({ ...partition, leader: leaderIn(partition), topicId }));
    return { ...topic, partitionMetadata: known };
  });
  return { ...answer, topicMetadata, brokers: brokers.map((one) => ({ ...one, host: one.host ?? '' })) };
}

function leaderIn({ partitionErrorCode, leader }: { readonly partitionErrorCode: number; readonly leader: number }) {
  return partitionErrorCode === 0 || partitionErrorCode === REPLICA_NOT_AVAILABLE ? leader : -1;
}

async function fetchWithEpochs(broker: Broker, topics: readonly string[]) {
  const answer = await sendRequest(broker, WITH_EPOCHS, { topics, allowAutoTopicCreation: 0 });
  return { ...answer, topicMetadata: answer.topicMetadata.map((topic) => ({ ...topic, id: NO_ID })) };
}

function fetchWithIds(broker: Broker, named: readonly string[]) {
  const topics = named.map((topic) => ({ id: NO_ID, topic }));
  const none = { allowAutoTopicCreation: 0, includeClusterOperations: 0, includeTopicOperations: 0 };
  return sendRequest(broker, WITH_IDS, { topics, ...none });
}
