import { CompactReader, compactString, NO_TAGS, ONE } from '../cluster/compact-encoding.ts';
import { type Broker, type Cluster, errorFromCode } from '../cluster/kafkajs-internals.ts';

const ZERO_ID = Buffer.alloc(16);

/** The id of a topic; null where it cannot be found out. Brokers before Kafka 2.8 close the connection. */
export async function knownTopicId(cluster: Cluster, topic: string): Promise<string | null> {
  const leader = cluster.findTopicPartitionMetadata(topic).find((partition) => partition.leader >= 0)?.leader;
  if (leader === undefined) return null;
  return fetchTopicId(await cluster.findBroker({ nodeId: leader }), topic).catch(() => null);
}

/**
 * The id of a topic, in hexadecimal. It changes when a topic is deleted and created anew under its name. kafkajs's own
 * metadata request is older than topic ids.
 */
export async function fetchTopicId(broker: Broker, topic: string): Promise<string | null> {
  const body = encodeBody(topic);
  const { id } = await broker.connectionPool.send<TopicId>({
    request: {
      apiKey: 3,
      apiVersion: 10,
      apiName: 'Metadata',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeResponse(payload), parse: async (found) => found },
  });
  return id;
}

interface TopicId {
  readonly id: string | null;
  /** kafkajs delays requests by this field when the broker throttles. */
  readonly clientSideThrottleTime: number;
}

/**
 * Metadata request, version 10: header tags | [topicId uuid | name | tags] | allow auto creation u8 | two authorized
 * operations u8 | tags
 */
function encodeBody(topic: string): Buffer {
  const noOptions = Buffer.alloc(3);
  return Buffer.concat([NO_TAGS, ONE, ZERO_ID, compactString(topic), NO_TAGS, noOptions, NO_TAGS]);
}

/**
 * throttleMs i32 | [nodeId i32 | host | port i32 | rack | tags] | clusterId | controllerId i32 | [errorCode i16 | name
 * | topicId uuid | ...]
 */
function decodeResponse(payload: Buffer): TopicId {
  const reader = new CompactReader(payload);
  const clientSideThrottleTime = reader.i32();
  reader.array(() => {
    reader.i32();
    reader.text();
    reader.i32();
    reader.text();
  });
  reader.text();
  reader.i32();
  if (reader.count() < 1) return { id: null, clientSideThrottleTime };
  const errorCode = reader.i16();
  if (errorCode !== 0) throw errorFromCode(errorCode);
  reader.text();
  const id = reader.raw(ZERO_ID.length);
  return { id: id.equals(ZERO_ID) ? null : id.toString('hex'), clientSideThrottleTime };
}
