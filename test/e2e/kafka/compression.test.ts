import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kafkaClassPath } from '../../../src/local-kafka/java-artifacts.ts';
import { committedRecords, freshTopics, kafkaTest, sharedKafka } from '../../fixture/kafka/kafka.ts';

const run = promisify(execFile);
const recordCount = 20_000;

kafkaTest("records that Kafka's own client compressed are read, in every codec", async () => {
  const { brokers } = await sharedKafka();
  const classPath = await kafkaClassPath(join(homedir(), '.cache', 'tidewatch'));
  const topicOf = new Map<string, string>();
  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) topicOf.set(codec, (await freshTopics(1)).observations);
  const source = join(import.meta.dirname, '../../fixture/kafka', 'CompressedRecords.java');
  const topics = [...topicOf].map(([codec, topic]) => `${codec}=${topic}`);
  await run('java', ['-cp', classPath, source, brokers[0], String(recordCount), ...topics]);
  for (const [codec, topic] of topicOf) {
    const values = (await committedRecords(topic, 0)).map(({ value }) => String(value));
    assert.deepEqual(
      values,
      Array.from({ length: recordCount }, (_, at) => `${codec}-${at}`),
    );
  }
});
