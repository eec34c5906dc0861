import type { BrokerConnections } from './broker-connection.ts';

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
