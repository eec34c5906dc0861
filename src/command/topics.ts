import { readFlags } from '../config/command-line.ts';
import { integerFrom } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import { commandFlag, kafkaOptions, streamOptions, withDefault } from '../config/options.ts';
import { topicsInUse } from '../stream/log/kafka/changelog-name.ts';
import { checkTopics, ensureTopics } from '../stream/log/kafka/topic-admin.ts';
import { DONE, printProblems, type RunnableCommand } from './command.ts';

const DAY_MS = 86_400_000;

const ownFlags = {
  partitions: withDefault(
    commandFlag('partitions', integerFrom(1, 10_000), 'partitions of all topics but dead letters'),
    8,
  ),
  replicationFactor: withDefault(commandFlag('replication-factor', integerFrom(1, 32), 'copies of each partition'), 1),
  retentionDays: withDefault(
    commandFlag('retention-days', integerFrom(0, 36_500), 'days records are kept; 0: as the broker says'),
    0,
  ),
};

/** Creates missing topics, and checks that all of them fit together. */
export const topicsCommand: RunnableCommand = {
  name: 'topics',
  summary: 'Makes the topics that are missing on the cluster of KAFKA_BROKERS, and checks all of them',
  options: [...Object.values(ownFlags), ...Object.values(kafkaOptions), ...Object.values(streamOptions)],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers']);
    const read = readFlags(flags, ownFlags);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    if (read.kind === 'problems') return printProblems(read.problems, io);
    const connection = { config: loaded.config.kafka! };
    const topics = await topicsInUse(connection, loaded.config.stream);
    const { partitions, replicationFactor, retentionDays } = read.values;
    const retentionMs = retentionDays === 0 ? null : retentionDays * DAY_MS;
    const made = await ensureTopics(connection, topics, { partitions, replicationFactor, retentionMs });
    for (const topic of made) io.out(`made ${topic}`);
    const count = await checkTopics(connection, topics);
    if (flags.partitions !== undefined && count !== partitions) {
      io.err(`--partitions ${partitions} was asked for, but the topics are there with ${count}, and stay so`);
    }
    io.out(`${Object.values(topics).join(', ')}: ready, ${count} partitions`);
    return DONE;
  },
};
