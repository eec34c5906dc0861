import { type Broker, type Cluster, errorFromCode } from './kafkajs-internals.ts';

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
 * Metadata request, version 10, in the compact encoding (see `committed-offset.ts`): header tags | [topicId uuid | name
 * | tags] | allow auto creation u8 | two authorized operations u8 | tags
 */
function encodeBody(topic: string): Buffer {
  const name = Buffer.from(topic);
  const length = name.length + 1;
  const size = Buffer.from(length < 128 ? [length] : [(length & 127) | 128, length >>> 7]);
  return Buffer.concat([Buffer.from([0, 2]), ZERO_ID, size, name, Buffer.from([0, 0, 0, 0, 0])]);
}

/**
 * header tags | throttleMs i32 | [nodeId i32 | host | port i32 | rack | tags] | clusterId | controllerId i32 |
 * [errorCode i16 | name | topicId uuid | ...]
 */
function decodeResponse(payload: Buffer): TopicId {
  const clientSideThrottleTime = payload.readInt32BE(1);
  let at = 5;
  /** Reads a uvarint of n + 1 and returns n; -1 is null. */
  const count = (): number => {
    let value = 0;
    let byte: number;
    let shift = 0;
    do {
      byte = payload.readUInt8(at++);
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    return value - 1;
  };
  const skipText = () => {
    const length = Math.max(0, count());
    at += length;
  };
  for (let brokers = count(); brokers > 0; brokers--) {
    at += 4;
    skipText();
    at += 4;
    skipText();
    at += 1;
  }
  skipText();
  at += 4;
  if (count() < 1) return { id: null, clientSideThrottleTime };
  const errorCode = payload.readInt16BE(at);
  if (errorCode !== 0) throw errorFromCode(errorCode);
  at += 2;
  skipText();
  const id = payload.subarray(at, at + 16);
  return { id: id.equals(ZERO_ID) ? null : id.toString('hex'), clientSideThrottleTime };
}
