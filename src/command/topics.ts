import { readFlags } from '../config/command-line.ts';
import { integerFrom } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import { flagOnly, kafkaOptions, streamOptions } from '../config/options.ts';
import { checkTopics, ensureTopics } from '../stream/log/kafka/topic-admin.ts';
import { DONE, type RunnableCommand, sayProblems } from './command.ts';

const DAY_MS = 86_400_000;

const own = {
  partitions: flagOnly('partitions', integerFrom(1, 10_000), 8, 'partitions of observations, scores and changelog'),
  replicationFactor: flagOnly('replication-factor', integerFrom(1, 32), 1, 'copies of each partition'),
  retentionDays: flagOnly('retention-days', integerFrom(0, 36_500), 0, 'days records are kept; 0: as the broker says'),
};

/** Makes the topics that are missing, and says whether all of them fit together. */
export const topicsCommand: RunnableCommand = {
  name: 'topics',
  summary: 'Makes the topics that are missing on the cluster of KAFKA_BROKERS, and checks all of them',
  options: [...Object.values(own), ...Object.values(kafkaOptions), streamOptions.detectors],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, ['brokers']);
    const read = readFlags(flags, own);
    if (loaded.kind === 'problems') return sayProblems(loaded.problems, io);
    if (read.kind === 'problems') return sayProblems(read.problems, io);
    const connection = { config: loaded.config.kafka! };
    const { topics } = loaded.config.stream;
    const { partitions, replicationFactor, retentionDays } = read.values;
    const retentionMs = retentionDays === 0 ? null : retentionDays * DAY_MS;
    const made = await ensureTopics(connection, topics, { partitions, replicationFactor, retentionMs });
    for (const topic of made) io.out(`made ${topic}`);
    const count = await checkTopics(connection, topics);
    io.out(`${Object.values(topics).join(', ')}: ready, ${count} partitions`);
    return DONE;
  },
};
