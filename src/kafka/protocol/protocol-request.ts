import { ServiceError } from '../../ops/service-error.ts';
import type { BrokerConnections, Headroom } from './broker-connection.ts';
import { type AnswerFields, decodeAnswer, encodeRequest, type StructFields } from './protocol-fields.ts';

/** A connection to one broker, with the requests that we send. */
export interface Broker {
  readonly nodeId: number;
  /** The requests that the broker knows, by api key; null before the connection is open. */
  readonly versions: Readonly<Record<number, { readonly minVersion: number; readonly maxVersion: number }>> | null;
  connect(): Promise<void>;
  metadata(topics: readonly string[]): Promise<{ readonly brokers: readonly { host: string; port: number }[] }>;
  readonly connectionPool: Pick<BrokerConnections, 'host' | 'port' | 'send'>;
}

export interface PartitionMetadata {
  readonly partitionId: number;
  /** -1: none. */
  readonly leader: number;
  /** Rises with each change of the leader; -1 or left out: not known. */
  readonly leaderEpoch?: number;
  /** Id of its topic, in hexadecimal; null or left out: not known. */
  readonly topicId?: string | null;
  /** The replicas in sync. */
  readonly isr: readonly number[];
  /** Brokers that have a copy, the preferred leader first. */
  readonly replicas: readonly number[];
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** A permission that a request needs: an operation on a topic, a group or a transactional id, as in `kafka-acls.sh`. */
export type Permission = readonly [
  operation: 'Read' | 'Write' | 'Describe',
  resource: 'topic' | 'group' | 'transactional-id',
  name: string,
];

/** The brokers and metadata of a Kafka cluster. Each instance has connections of its own. */
export interface Cluster {
  readonly targetTopics: ReadonlySet<string>;
  /** The brokers of the newest metadata, by node. */
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, Broker>>;
    /** `operations` are bits of what the user may do with the topic. */
    readonly metadata?: { readonly topicMetadata: readonly { readonly topic: string; readonly operations?: number }[] };
  };
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  /** Levels of the features that the cluster has finalized, as the broker that was asked last reported them. */
  readonly features: ReadonlyMap<string, number>;
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findBroker(of: { nodeId: number }): Promise<Broker>;
  findGroupCoordinator(of: { groupId: string; coordinatorType: 0 | 1 }): Promise<Broker>;
  fetchTopicsOffset(
    topics: readonly { topic: string; partitions: readonly { partition: number }[]; fromBeginning: boolean }[],
  ): Promise<readonly TopicOffsets[]>;
}

/** Every answer has it: kafkajs delays requests by this field when the broker throttles. */
interface Throttled {
  readonly clientSideThrottleTime: number;
}

interface RequestVersions {
  readonly name: string;
  readonly key: number;
  /** Those that this client knows, in ascending order. */
  readonly versions: readonly number[];
}

/** A request that kafkajs does not have, or in an older version only. */
interface RequestSchema<Request, Answer> extends RequestVersions {
  /** The first version in the compact encoding. */
  readonly compactSince: number;
  readonly request: StructFields<Request>;
  readonly answer: AnswerFields<Answer>;
}

/** The oldest release that has every request that is needed. */
export const OLDEST_KAFKA = 'Kafka 2.5';

/** kafkajs has the same error for a request to a broker whose connection is being opened. */
const NOT_YET_CONNECTED = 'Broker not connected';

/** The newest version of a request that this client and the broker know. Throws a ServiceError if there is none. */
export function versionFor({ versions: known, connectionPool }: Broker, request: RequestVersions): number {
  const { name, key, versions } = request;
  if (known === null) throw new Error(NOT_YET_CONNECTED);
  const { minVersion = 0, maxVersion = -1 } = known[key] ?? {};
  const version = versions.findLast((each) => each >= minVersion && each <= maxVersion);
  if (version !== undefined) return version;
  const has = maxVersion < 0 ? 'does not have it' : `has ${minVersion} to ${maxVersion}`;
  const needed = `Tidewatch needs version ${versions.join(' or ')} of the request ${name}`;
  const text = `${needed}, and the broker at ${connectionPool.host}:${connectionPool.port} ${has}`;
  throw new ServiceError('configuration', `${text}. The oldest release that works is ${OLDEST_KAFKA}`);
}

/**
 * Sends a request in the newest version that both sides know.
 * @param waitMsMax for an answer that takes longer than REQUEST_MS_MAX
 */
export async function sendRequest<Request, Answer extends Throttled>(
  broker: Broker,
  schema: RequestSchema<Request, Answer>,
  request: NoInfer<Request>,
  waitMsMax?: number,
): Promise<Answer> {
  const version = versionFor(broker, schema);
  const encoding = { version, isCompact: version >= schema.compactSince };
  const body = encodeRequest(encoding, schema.request, request);
  const decode = (payload: Buffer) => decodeAnswer(encoding, schema.answer, payload);
  return sendEncoded(broker, { ...schema, version }, body, { decode, waitMsMax });
}

/** Sends a request whose body is encoded already: `whole` from `at` on, and what is before is free. */
export function sendEncoded<Answer extends Throttled>(
  { connectionPool }: Pick<Broker, 'connectionPool'>,
  { name, key, version }: { readonly name: string; readonly key: number; readonly version: number },
  headroom: Headroom,
  { decode, waitMsMax }: { readonly decode: (payload: Buffer) => Answer; readonly waitMsMax?: number | undefined },
): Promise<Answer> {
  const body = headroom.whole.subarray(headroom.at);
  const encode = async () => ({ buffer: body, headroom });
  return connectionPool.send({
    request: { apiKey: key, apiVersion: version, apiName: name, encode },
    response: { decode: async (payload) => decode(payload), parse: async (answer) => answer },
    ...(waitMsMax !== undefined && { requestTimeout: waitMsMax }),
  });
}
