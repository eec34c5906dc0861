import type { Topics } from '../../config/config.ts';
import { asAdmin, makeTopics } from '../../kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import { protocolErrorType } from '../../kafka/cluster/failure.ts';
import { type Admin, TOPIC_RESOURCE, type TopicConfig } from '../../kafka/cluster/kafkajs.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { CHANGES_KEPT_MS } from '../../records/changes/change-limits.ts';

export interface TopicCreation {
  /** Partitions of observations, scores, events and changelog. Dead letters get one. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Retention of all topics but the changelog; null keeps the broker's default. */
  readonly retentionMs: number | null;
}

/**
 * Compaction skips the active segment, so segments are small. Tombstones are kept for a day, for a restore that is
 * running.
 */
const CHANGELOG_CONFIG: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  'segment.bytes': String(32 * 1024 * 1024),
  'segment.ms': String(60 * 60 * 1000),
  'min.cleanable.dirty.ratio': '0.3',
  'max.compaction.lag.ms': String(6 * 60 * 60 * 1000),
  'delete.retention.ms': String(24 * 60 * 60 * 1000),
};

/**
 * Creates the topics that are missing, and leaves existing ones as they are. Returns the names of the created ones.
 * Throws a ServiceError `broker-unavailable`, or `configuration` when Kafka refuses.
 */
export function ensureTopics(
  connection: KafkaConnection,
  topics: Topics,
  creation: TopicCreation,
): Promise<readonly string[]> {
  return asAdmin(connection, 'creating topics', async (admin) => {
    const missing = await missingTopics(admin, topics);
    if (missing.length > 0)
      await makeTopics(
        admin,
        missing.map((topic) => planTopic(topics, topic, creation)),
      );
    return missing;
  });
}

/** Topics of one partition, by what they hold. */
const SINGLE_CONFIGS: Readonly<Record<'state' | 'output' | 'changes', Readonly<Record<string, string>>>> = {
  state: CHANGELOG_CONFIG,
  output: {},
  // The newest record of each known change. They are deleted later than any reader keeps them.
  changes: { 'cleanup.policy': 'compact,delete', 'retention.ms': String(CHANGES_KEPT_MS) },
};

/**
 * Creates a topic of one partition where it is missing, with as many copies as `like` has. Throws a ServiceError, also
 * where it exists with more partitions, or would lose state. Returns whether it was made.
 */
export function ensureSingleTopic(
  connection: KafkaConnection,
  holds: keyof typeof SINGLE_CONFIGS,
  { topic, like }: { readonly topic: string; readonly like: string },
): Promise<boolean> {
  return asAdmin(connection, `creating topic ${topic}`, async (admin) => {
    const existing = new Set(await admin.listTopics());
    if (!existing.has(like)) throw new ServiceError('topic-mismatch', `Topic ${like} is missing: ${MAKE_TOPICS}`);
    if (!existing.has(topic)) {
      const { topics } = await admin.fetchTopicMetadata({ topics: [like] });
      const replicationFactor = topics[0].partitions[0].replicas.length;
      const configEntries = entriesOf(SINGLE_CONFIGS[holds]);
      await makeTopics(admin, [{ topic, numPartitions: 1, replicationFactor, configEntries }]);
    }
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    if (topics[0].partitions.length !== 1) {
      throw new ServiceError('topic-mismatch', `Topic ${topic} must have one partition`);
    }
    if (holds === 'state') await refuseLossyChangelog(admin, topic);
    return !existing.has(topic);
  });
}

const entriesOf = (config: Readonly<Record<string, string>>) =>
  Object.entries(config).map(([name, value]) => ({ name, value }));

const MAKE_TOPICS = 'create it with the command "topics", or name another one in the detectors file';

function planTopic(topics: Topics, topic: string, creation: TopicCreation): TopicConfig {
  const config =
    topic === topics.changelog
      ? CHANGELOG_CONFIG
      : creation.retentionMs === null
        ? {}
        : { 'retention.ms': String(creation.retentionMs) };
  return {
    topic,
    numPartitions: topic === topics.deadLetters ? 1 : creation.partitions,
    replicationFactor: creation.replicationFactor,
    configEntries: entriesOf(config),
  };
}

/**
 * Checks that all topics exist, that observations, scores, events and changelog have the same partition count, and that
 * the changelog is compacted. Throws a ServiceError `topic-mismatch` with the remedy. Returns the partition count.
 */
export function checkTopics(connection: KafkaConnection, topics: Topics): Promise<number> {
  return asAdmin(connection, 'checking topics', async (admin) => {
    await refuseMissing(admin, topics);
    const { topics: described } = await admin.fetchTopicMetadata({ topics: allTopics(topics) });
    const counts = new Map(described.map(({ name, partitions }) => [name, partitions.length]));
    const mismatch = explainMismatch(topics, counts);
    if (mismatch !== null) throw new ServiceError('topic-mismatch', mismatch);
    await refuseLossyChangelog(admin, topics.changelog);
    await refuseSmallTopics(admin, topics);
    return counts.get(topics.observations) ?? 0;
  });
}

/** Checks that all topics exist, not their settings. Throws a ServiceError `topic-mismatch`. */
export function requireTopics(connection: KafkaConnection, topics: Topics): Promise<void> {
  return asAdmin(connection, 'looking for topics', (admin) => refuseMissing(admin, topics));
}

async function refuseMissing(admin: Admin, topics: Topics): Promise<void> {
  const missing = await missingTopics(admin, topics);
  if (missing.length === 0) return;
  throw new ServiceError(
    'topic-mismatch',
    `Topics are missing: ${missing.join(', ')}. Create them with the command "topics", ` +
      'or name others in the detectors file. Kafka also hides topics from a user without permissions on them',
  );
}

/** Reason why the partition counts are wrong, in a sentence for the operator; null when they are right. */
function explainMismatch(topics: Topics, counts: ReadonlyMap<string, number>): string | null {
  const { observations, scores, events, changelog } = topics;
  const dependent = [scores, events, changelog];
  const wanted = counts.get(observations);
  const different = dependent.filter((topic) => counts.get(topic) !== wanted);
  if (different.length === 0) return null;
  const all = [observations, ...dependent].map((topic) => ({ topic, count: counts.get(topic) ?? 0 }));
  const found = all.map(({ topic, count }) => `${topic} has ${count}`).join(', ');
  return (
    `Partition counts differ: ${found}. State, scores and events of a series are in the partition of its key, and ` +
    `a changed count moves keys. If nothing is stored in ${different.join(' and ')} yet, give them ${wanted} ` +
    'partitions; otherwise stop producers and workers, and move the state with the command ' +
    `"state repartition --partitions ${Math.max(...all.map(({ count }) => count))}"`
  );
}

async function refuseLossyChangelog(admin: Admin, changelog: string): Promise<void> {
  const policy = await configOf(admin, changelog, 'cleanup.policy');
  if (policy === undefined || policy === 'compact') return;
  const text =
    `Topic ${changelog} has cleanup.policy=${policy}, under which the state of quiet series would be deleted: ` +
    'set cleanup.policy=compact';
  throw new ServiceError('topic-mismatch', text);
}

/** Topics get batches up to this size. A dead letter, or the state of a large group, is one record. */
const MESSAGE_BYTES_MIN = 1_000_000;

/** If the user may not describe its configuration, a topic is not checked: the first large batch names it. */
async function refuseSmallTopics(admin: Admin, { scores, events, changelog, deadLetters }: Topics): Promise<void> {
  for (const name of new Set([changelog, scores, events, deadLetters])) {
    const size = await configOf(admin, name, 'max.message.bytes').catch((error: unknown) => {
      if (protocolErrorType(error) === 'TOPIC_AUTHORIZATION_FAILED') return undefined;
      throw error;
    });
    if (size === undefined || Number(size) >= MESSAGE_BYTES_MIN) continue;
    const text = `Topic ${name} has max.message.bytes=${size}, but batches may have ${MESSAGE_BYTES_MIN} bytes`;
    throw new ServiceError('topic-mismatch', `${text}: raise it, or remove it in favour of message.max.bytes`);
  }
}

/** Larger ones delay compaction. */
const COMPACTION_SETTINGS = ['segment.bytes', 'segment.ms', 'min.cleanable.dirty.ratio', 'max.compaction.lag.ms'];

/**
 * Explains which settings of a changelog that others made delay compaction, so that restores read more; null if none
 * does, or the user may not read them.
 */
export async function delayedCompaction(connection: KafkaConnection, changelog: string): Promise<string | null> {
  try {
    return await asAdmin(connection, 'checking the compaction of the changelog', async (admin) => {
      const found = await Promise.all(COMPACTION_SETTINGS.map((name) => configOf(admin, changelog, name)));
      const larger = COMPACTION_SETTINGS.flatMap((name, i) => {
        const own = CHANGELOG_CONFIG[name];
        return Number(found[i]) > Number(own) ? [`${name}=${found[i]} (to ${own})`] : [];
      });
      if (larger.length === 0) return null;
      return `Kafka compacts ${changelog} late, and restores read more: lower ${larger.join(', ')}`;
    });
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function configOf(admin: Admin, topic: string, name: string): Promise<string | undefined> {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: [name] }],
    includeSynonyms: false,
  });
  return resources[0]?.configEntries.find(({ configName }) => configName === name)?.configValue;
}

async function missingTopics(admin: Admin, topics: Topics): Promise<readonly string[]> {
  const existing = new Set(await admin.listTopics());
  return allTopics(topics).filter((topic) => !existing.has(topic));
}

function allTopics(topics: Topics): string[] {
  return [...new Set(Object.values(topics))];
}
