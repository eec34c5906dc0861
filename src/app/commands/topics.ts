import type { LoadedConfig } from '../../config/load.ts';
import { commandFlag } from '../../config/options/option.ts';
import { kafkaOptions, streamOptions } from '../../config/options/options.ts';
import { changeOptions } from '../../config/options/topic-options.ts';
import { repartitionOf } from '../../config/rekeyed-input.ts';
import { integerFrom } from '../../config/schema/kinds.ts';
import { topicsInUse } from '../../engine/topics/changelog-name.ts';
import { keptTimes, keptTimesText } from '../../engine/topics/kept-times.ts';
import { checkRepartition, ensureRepartition } from '../../engine/topics/repartition-topics.ts';
import { checkTopics, delayedCompaction, ensureSingleTopic, ensureTopics } from '../../engine/topics/topic-admin.ts';
import { describeCluster } from '../../kafka/admin/describe-cluster.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { diagnosticText } from '../../records/diagnostics/diagnostic.ts';
import { shadowedGlobs } from '../../records/diagnostics/shadowed-globs.ts';
import { DONE } from '../../tools/terminal/command-io.ts';
import { readDiagnostics } from '../processes/operations/input-diagnostics.ts';
import { command, jsonFlag } from './command.ts';

const DAY_MS = 86_400_000;

const own = {
  partitions: commandFlag('partitions', integerFrom(1, 10_000), 'partitions of all topics except dead letters', 8),
  replicationFactor: commandFlag('replication-factor', integerFrom(1, 32), 'copies of each partition', 1),
  retentionDays: commandFlag(
    'retention-days',
    integerFrom(0, 36_500),
    'retention in days; 0: the default of the broker',
    0,
  ),
  json: jsonFlag,
};

/** Creates missing topics, and checks that all of them fit together. */
export const topicsCommand = command({
  own,
  settings: { ...kafkaOptions, ...streamOptions, ...changeOptions },
  requires: ['brokers'],
  async run({ flags, values, config: { kafka, stream, changesTopic } }, io) {
    const connection = { config: kafka };
    const { json } = values;
    const print = json ? io.err : io.out;
    print(`On ${await describeCluster(connection)}`);
    const topics = await topicsInUse(connection, stream);
    const { partitions, replicationFactor, retentionDays } = values;
    const retentionMs = retentionDays === 0 ? null : retentionDays * DAY_MS;
    const creation = { partitions, replicationFactor, retentionMs };
    const repartition = repartitionOf(stream);
    const { scores } = topics;
    const before =
      repartition === null ? [] : await ensureRepartition(connection, repartition, { ...creation, scores });
    const made = [...before, ...(await ensureTopics(connection, topics, creation))];
    for (const topic of Object.values(topics).filter((each) => !made.includes(each))) print(`found ${topic}`);
    for (const topic of made) print(`made ${topic}`);
    const hasChanges = await ensureSingleTopic(connection, 'changes', { topic: changesTopic, like: topics.events });
    if (hasChanges) print(`made ${changesTopic}`);
    if (repartition !== null) await checkRepartition(connection, repartition);
    const count = await checkTopics(connection, topics);
    if (flags.partitions !== undefined && count !== partitions) {
      io.err(`--partitions ${partitions} was given, but the topics are there with ${count}, and stay so`);
    }
    print(`${Object.values(topics).join(', ')}: ready, ${count} partitions`);
    for (const [role, topic] of Object.entries(json ? { ...topics, changes: changesTopic } : {})) {
      const isMade = role === 'changes' ? hasChanges : made.includes(topic);
      io.out(JSON.stringify({ role, topic, partitions: role === 'changes' ? 1 : count, made: isMade }));
    }
    const kept = await keptTimes(connection, { ...stream, topics });
    if (kept !== null) io.err(keptTimesText(kept));
    const delayed = await delayedCompaction(connection, topics.changelog);
    if (delayed !== null) io.err(delayed);
    for (const line of await diagnosticLines(connection, stream)) io.err(line);
    return DONE;
  },
});

/** Settings that watch nothing, of the detectors file and from the workers. They do not fail the command. */
async function diagnosticLines(connection: KafkaConnection, stream: LoadedConfig['stream']): Promise<string[]> {
  const ofFile = shadowedGlobs(stream.detectors).map((diagnostic) => diagnosticText(diagnostic));
  try {
    return [...ofFile, ...(await readDiagnostics(connection, stream)).map((diagnostic) => diagnosticText(diagnostic))];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [...ofFile, `What the workers found in their input could not be read: ${error.message}`];
  }
}
