import { array, decodeAnswer, encodeRequest, i8, i16, i32, string, struct, uuid } from './protocol-fields.ts';

/** Versions of the Metadata request: kafkajs stops at 6. From 7 on the answer has the epoch of each leader. */
export const LEADER_EPOCHS = 7;
/** From 10 on (Kafka 2.8) it has topic ids, in the compact encoding. */
export const TOPIC_IDS = 10;

const NO_ID = '0'.repeat(32);
const names = array(struct({ id: uuid, topic: string }));
/** Without a name: all topics. */
const topics: typeof names = {
  write: (writer, named) => (named.length === 0 ? writer.length(-1, i32) : names.write(writer, named)),
  read: names.read,
};
const REQUEST = { topics, allowAutoTopicCreation: i8, includeClusterOperations: i8, includeTopicOperations: i8 };

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
const ANSWER = {
  ...CLUSTER,
  topicMetadata: array(struct({ ...TOPIC, isInternal: i8, partitionMetadata })),
};
const ANSWER_WITH_IDS = {
  ...CLUSTER,
  topicMetadata: array(struct({ ...TOPIC, id: uuid, isInternal: i8, partitionMetadata, operations: i32 })),
};

export interface MetadataQuestion {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation?: boolean;
}

/** In the version of topic ids. */
export function encodeMetadataRequest({ topics: named, allowAutoTopicCreation = true }: MetadataQuestion): Buffer {
  const values = {
    topics: named.map((topic) => ({ id: NO_ID, topic })),
    allowAutoTopicCreation: Number(allowAutoTopicCreation),
    includeClusterOperations: 0,
    includeTopicOperations: 0,
  };
  return encodeRequest({ isCompact: true, request: REQUEST }, values);
}

/** What kafkajs reads of it, and with each partition the id of its topic, in hexadecimal. */
export function decodeMetadata(payload: Buffer, version: typeof LEADER_EPOCHS | typeof TOPIC_IDS) {
  if (version === LEADER_EPOCHS) return decodeAnswer({ isCompact: false, answer: ANSWER }, payload);
  const answer = decodeAnswer({ isCompact: true, answer: ANSWER_WITH_IDS }, payload);
  const topicMetadata = answer.topicMetadata.map(({ id, ...topic }) => {
    const topicId = id === NO_ID ? null : id;
    return { ...topic, partitionMetadata: topic.partitionMetadata.map((partition) => ({ ...partition, topicId })) };
  });
  return { ...answer, topicMetadata };
}
