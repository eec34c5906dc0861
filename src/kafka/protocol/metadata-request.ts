import { array, i8, i16, i32, since, string, struct, uuid } from './protocol-fields.ts';
import { type Broker, sendRequest } from './protocol-request.ts';

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
/** From version 7 on (kafkajs stops at 6) the answer has the epoch of each leader, from 10 on topic ids. */
const METADATA = {
  name: 'Metadata',
  key: 3,
  versions: [7, 10],
  compactSince: 9,
  request: {
    topics: namesOf(array(struct({ id: since(10, uuid, NO_ID), topic: string }))),
    allowAutoTopicCreation: i8,
    includeClusterOperations: since(8, i8, 0),
    includeTopicOperations: since(8, i8, 0),
  },
  answer: {
    clientSideThrottleTime: i32,
    brokers: array(struct({ nodeId: i32, host: string, port: i32, rack: string })),
    clusterId: string,
    controllerId: i32,
    topicMetadata: array(
      struct({
        topicErrorCode: i16,
        topic: string,
        id: since(10, uuid, NO_ID),
        isInternal: i8,
        partitionMetadata,
        operations: since(8, i32, 0),
      }),
    ),
  },
};
const INCLUDED = { allowAutoTopicCreation: 0, includeClusterOperations: 0, includeTopicOperations: 1 };

/**
 * Metadata as kafkajs's cluster reads them, and with each partition the epoch of its leader and the id of its topic, in
 * hexadecimal. kafkajs would refuse the whole answer where one partition has an error, e.g. no leader: then all
 * partitions of all topics would stall. Here such a partition has leader -1, and the others are used.
 */
export async function fetchMetadata(broker: Broker, named: readonly string[]) {
  const topics = named.map((topic) => ({ id: NO_ID, topic }));
  const { brokers, ...answer } = await sendRequest(broker, METADATA, { topics, ...INCLUDED });
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
