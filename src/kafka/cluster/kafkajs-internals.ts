import { createRequire } from 'node:module';
import type { Admin, ISocketFactory, logCreator, RetryOptions } from 'kafkajs';
import './kafkajs-mends.ts';
import type { BrokerConnections, ProtocolRequest } from './kafkajs-connections.ts';
import {
  decodeMetadata,
  encodeMetadataRequest,
  LEADER_EPOCHS,
  type MetadataQuestion,
  TOPIC_IDS,
} from './metadata-request.ts';

/**
 * The parts of kafkajs (2.2.4, pinned) below its producer and consumer: connections and requests. Its producer is
 * slow (its encoder costs 3 us a record), and its transaction state machine does not recover from a failed EndTxn.
 * All deep imports are here and in kafkajs-mends.ts.
 */
const load = createRequire(import.meta.url);

export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: string;
  readonly producerEpoch: number;
}

interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** A connection to one broker, with the requests that we send. */
export interface Broker {
  readonly nodeId: number;
  /** The requests that the broker knows, by api key; null before the connection is open. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
  connect(): Promise<void>;
  metadata(topics: readonly string[]): Promise<{ readonly brokers: readonly { host: string; port: number }[] }>;
  readonly connectionPool: Pick<BrokerConnections, 'host' | 'port' | 'send'>;
  initProducerId(of: { transactionalId: string; transactionTimeout: number }): Promise<{
    producerId: string;
    producerEpoch: number;
  }>;
  addPartitionsToTxn(
    of: ProducerIdentity & { topics: readonly { topic: string; partitions: readonly number[] }[] },
  ): Promise<unknown>;
  addOffsetsToTxn(of: ProducerIdentity & { groupId: string }): Promise<unknown>;
  endTxn(of: ProducerIdentity & { transactionResult: boolean }): Promise<unknown>;
}

export interface PartitionMetadata {
  readonly partitionId: number;
  /** -1: none. */
  readonly leader: number;
  /** Rises with each change of the leader; -1 or left out: not known. */
  readonly leaderEpoch?: number;
  /** Of its topic, in hexadecimal; null or left out: not known. */
  readonly topicId?: string | null;
  /** The replicas in sync. */
  readonly isr: readonly number[];
}

/** The brokers and metadata of a Kafka cluster. Each instance has connections of its own. */
export interface Cluster {
  readonly targetTopics: ReadonlySet<string>;
  /** The brokers of the newest metadata, by node. */
  readonly brokerPool: { readonly brokers: Readonly<Record<string, Broker>> };
  readonly connectionPoolBuilder: {
    build(to?: Pick<BrokerConnections, 'host' | 'port' | 'rack'>): Promise<BrokerConnections>;
  };
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findBroker(of: { nodeId: number }): Promise<Broker>;
  findGroupCoordinator(of: { groupId: string; coordinatorType: 0 | 1 }): Promise<Broker>;
  fetchTopicsOffset(
    topics: readonly { topic: string; partitions: readonly { partition: number }[]; fromBeginning: boolean }[],
  ): Promise<readonly TopicOffsets[]>;
}

export interface ClusterOptions {
  readonly logger: unknown;
  readonly socketFactory: ISocketFactory;
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl: unknown;
  readonly sasl: unknown;
  readonly connectionTimeout: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly metadataMaxAge: number;
  readonly allowAutoTopicCreation: boolean;
  readonly retry: RetryOptions;
  readonly isolationLevel: 0 | 1;
}

export const ClusterConstructor = load('kafkajs/src/cluster/index.js') as new (options: ClusterOptions) => Cluster;

/** The client for administration, on connections of ours. */
export const createAdmin = load('kafkajs/src/admin/index.js') as (of: {
  readonly logger: unknown;
  readonly cluster: Cluster;
  readonly retry: RetryOptions;
}) => Admin;

export const createKafkajsLogger = (
  load('kafkajs/src/loggers/index.js') as { createLogger(of: { level: number; logCreator: logCreator }): unknown }
).createLogger;

export const defaultSocketFactory = load('kafkajs/src/network/socketFactory.js') as () => ISocketFactory;

/** The body of a Fetch request, version 11 (Kafka 2.3 and later). */
export const fetchRequest = load('kafkajs/src/protocol/requests/fetch/v11/request.js') as (of: {
  replicaId: number;
  isolationLevel: 0 | 1;
  sessionId: number;
  sessionEpoch: number;
  forgottenTopics: readonly never[];
  maxWaitTime: number;
  minBytes: number;
  maxBytes: number;
  topics: readonly {
    topic: string;
    partitions: readonly { partition: number; currentLeaderEpoch?: number; fetchOffset: number; maxBytes: number }[];
  }[];
  rackId: string;
}) => ProtocolRequest<unknown>['request'];

const PROTOCOL_ERRORS = load('kafkajs/src/protocol/error.js') as {
  createErrorFromCode(code: number): Error;
  readonly errorCodes: { type: string; code: number; retriable: boolean; message: string }[];
};
// Error codes that are newer than kafkajs.
PROTOCOL_ERRORS.errorCodes.push({
  type: 'PRODUCER_FENCED',
  code: 90,
  retriable: false,
  message: 'There is a newer producer with the same transactional id',
});

export const errorFromCode = PROTOCOL_ERRORS.createErrorFromCode;

interface TopicMetadata {
  readonly topicErrorCode: number;
  readonly partitionMetadata: readonly { readonly partitionErrorCode: number; leader: number }[];
}

/**
 * kafkajs refuses the whole metadata response when one partition has an error, e.g. no leader. Then all partitions of
 * all topics stall. Here such a partition has leader -1 (see `leaderOf`), and the others are used. The error of a
 * topic is still thrown.
 */
function parseMetadata<Data extends { readonly topicMetadata: readonly TopicMetadata[] }>(data: Data): Promise<Data> {
  for (const { topicErrorCode, partitionMetadata } of data.topicMetadata) {
    if (topicErrorCode !== 0) return Promise.reject(errorFromCode(topicErrorCode));
    for (const partition of partitionMetadata) {
      if (partition.partitionErrorCode !== 0 && partition.partitionErrorCode !== REPLICA_NOT_AVAILABLE) {
        partition.leader = -1;
      }
    }
  }
  return Promise.resolve(data);
}

const REPLICA_NOT_AVAILABLE = 9;
for (let version = 0; version <= 6; version++) {
  const response = load(`kafkajs/src/protocol/requests/metadata/v${version}/response.js`) as {
    parse: typeof parseMetadata;
  };
  response.parse = parseMetadata;
}

interface RequestDefinitions {
  versions: string[];
  protocol(of: {
    readonly version: number;
  }): (of: MetadataQuestion) => { readonly request: object; readonly response: object };
}

const metadata = load('kafkajs/src/protocol/requests/metadata/index.js') as RequestDefinitions;
const metadataOf = metadata.protocol;
metadata.versions = [...metadata.versions, String(LEADER_EPOCHS), String(TOPIC_IDS)];
metadata.protocol = ({ version }) => {
  if (version < LEADER_EPOCHS) return metadataOf({ version });
  const known = version < TOPIC_IDS ? LEADER_EPOCHS : TOPIC_IDS;
  const response = { decode: async (payload: Buffer) => decodeMetadata(payload, known), parse: parseMetadata };
  return (of) => {
    const { request } = metadataOf({ version: LEADER_EPOCHS - 1 })(of);
    const encode = async () => {
      const body = encodeMetadataRequest(of);
      return { buf: body, buffer: body };
    };
    return { request: { ...request, apiVersion: known, ...(known === TOPIC_IDS && { encode }) }, response };
  };
};
