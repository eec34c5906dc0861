import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import type { Topics } from '../../../config/config.ts';
import { ServiceError } from '../../../service-error.ts';
import { type KafkaConnection, kafkaClient, partFrom } from './connection.ts';
import { explainFailure, protocolErrorType } from './failure.ts';
import { leaderIsElsewhere } from './leader.ts';
import { type Patience, withPatience } from './retry.ts';

const untilTopicsAreKnown: Patience = { firstMs: 20, nextMsMax: 500, totalMsMax: 30_000 };

export interface TopicCreation {
  /** Of observations, scores and changelog alike; dead letters get one. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Of everything but the changelog; null keeps the broker's default. */
  readonly retentionMs: number | null;
}

/** Compaction leaves the newest segment alone, so segments are small; a deleted key stays visible for a day to whoever restores. */
const changelogConfig: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  'segment.bytes': String(32 * 1024 * 1024),
  'segment.ms': String(60 * 60 * 1000),
  'min.cleanable.dirty.ratio': '0.3',
  'max.compaction.lag.ms': String(6 * 60 * 60 * 1000),
  'delete.retention.ms': String(24 * 60 * 60 * 1000),
};

/**
 * Makes the topics that do not exist; those that do stay as they are. Returns the names of those it made.
 * Throws a ServiceError `broker-unavailable`, or `configuration` when Kafka refuses.
 */
export function ensureTopics(
  connection: KafkaConnection,
  topics: Topics,
  creation: TopicCreation,
): Promise<readonly string[]> {
  return asAdmin(connection, 'topics were made', async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = allTopics(topics).filter((topic) => !existing.has(topic));
    if (missing.length === 0) return [];
    const plans = missing.map((topic) => planTopic(topics, topic, creation));
    await admin.createTopics({ topics: plans, waitForLeaders: false });
    await withPatience(() => admin.fetchTopicMetadata({ topics: missing }), isStillSpreading, untilTopicsAreKnown);
    // Metadata name a leader before it knows that it leads; until then whoever joins a group is thrown out and joins again.
    for (const topic of missing) {
      await withPatience(() => admin.fetchTopicOffsets(topic), leaderIsElsewhere, untilTopicsAreKnown);
    }
    return missing;
  });
}

/** A topic that was just made is not known to every broker at once, and has no leaders yet. */
function isStillSpreading(error: unknown): boolean {
  return ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes(protocolErrorType(error));
}

function planTopic(topics: Topics, topic: string, creation: TopicCreation): ITopicConfig {
  const config =
    topic === topics.changelog
      ? changelogConfig
      : creation.retentionMs === null
        ? {}
        : { 'retention.ms': String(creation.retentionMs) };
  return {
    topic,
    numPartitions: topic === topics.deadLetters ? 1 : creation.partitions,
    replicationFactor: creation.replicationFactor,
    configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
  };
}

/**
 * Refuses to go on with topics that do not fit together: all must exist, observations, scores and changelog need the same partition
 * count, and the changelog must be compacted. Throws a ServiceError `topic-mismatch` that says what to do. Returns the count.
 */
export function checkTopics(connection: KafkaConnection, topics: Topics): Promise<number> {
  return asAdmin(connection, 'topics were checked', async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = allTopics(topics).filter((topic) => !existing.has(topic));
    if (missing.length > 0) {
      const text = `Topics are missing: ${missing.join(', ')}. Make them with the command "topics", or name others in the detectors file`;
      throw new ServiceError('topic-mismatch', text);
    }
    const { topics: described } = await admin.fetchTopicMetadata({ topics: allTopics(topics) });
    const counts = new Map(described.map(({ name, partitions }) => [name, partitions.length]));
    const mismatch = explainMismatch(topics, counts);
    if (mismatch !== null) throw new ServiceError('topic-mismatch', mismatch);
    await refuseLossyChangelog(admin, topics.changelog);
    return counts.get(topics.observations)!;
  });
}

/** Why these partition counts do not fit together, in a sentence for the operator; null when they do. */
function explainMismatch(topics: Topics, counts: ReadonlyMap<string, number>): string | null {
  const { observations, scores, changelog } = topics;
  const wanted = counts.get(observations);
  const different = [scores, changelog].filter((topic) => counts.get(topic) !== wanted);
  if (different.length === 0) return null;
  const found = [observations, scores, changelog].map((topic) => `${topic} has ${counts.get(topic) ?? 0}`).join(', ');
  return (
    `Partition counts differ: ${found}. State and scores of a series live in the partition of its key, and a changed count moves ` +
    `keys. Give ${different.join(' and ')} ${wanted} partitions if nothing is stored in them yet; otherwise stop all workers, ` +
    `delete ${different.join(' and ')} and make them again with the command "topics": every series then starts over`
  );
}

async function refuseLossyChangelog(admin: Admin, changelog: string): Promise<void> {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: changelog, configNames: ['cleanup.policy'] }],
    includeSynonyms: false,
  });
  const policy = resources[0]?.configEntries.find(({ configName }) => configName === 'cleanup.policy')?.configValue;
  if (policy === undefined || policy === 'compact') return;
  const text =
    `Topic ${changelog} has cleanup.policy=${policy}, under which the state of quiet series would be deleted: ` +
    'set cleanup.policy=compact';
  throw new ServiceError('topic-mismatch', text);
}

function allTopics(topics: Topics): string[] {
  return [...new Set([topics.observations, topics.scores, topics.changelog, topics.deadLetters])];
}

async function asAdmin<T>(connection: KafkaConnection, doing: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const client = kafkaClient(connection);
  const admin = client.kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    throw explainUnreached(explainFailure(error, doing), connection);
  } finally {
    await partFrom(admin.disconnect(), client.destroy);
  }
}

/** What TLS on one side only, or an unknown certificate, looks like. */
const hints: readonly { readonly tls: boolean; readonly said: RegExp; readonly hint: string }[] = [
  { tls: false, said: /Closed connection/, hint: '. If the brokers want TLS, set KAFKA_TLS=true' },
  { tls: true, said: /certificate/, hint: '. KAFKA_TLS_CA is the file of the authority that signed the brokers' },
  {
    tls: true,
    said: /wrong version|packet length|disconnected/,
    hint: '. If the brokers do not speak TLS there, unset KAFKA_TLS',
  },
];

/** Whoever administers is at the beginning: the address may be wrong, or the brokers are not up yet. */
function explainUnreached(failure: ServiceError, { config }: KafkaConnection): ServiceError {
  if (failure.code !== 'broker-unavailable') return failure;
  const hint = hints.find(({ said, tls }) => said.test(failure.message) && tls === (config.tls !== null))?.hint;
  const text = `No Kafka could be reached at ${config.brokers.join(', ')}. ${failure.message}${hint ?? ''}`;
  return new ServiceError(failure.code, text, { retryable: true, cause: failure });
}
