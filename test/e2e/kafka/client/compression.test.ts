import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../../src/config/process-environment.ts';
import { kafkaClassPath } from '../../../../src/demo/local-kafka/java-artifacts.ts';
import { CODEC_MASK } from '../../../../src/kafka/batch/record-batch-layout.ts';
import { linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import { leaderOf } from '../../../../src/kafka/cluster/leader.ts';
import { fetchTopic } from '../../../../src/kafka/fetch/fetch.ts';
import { committedRecords, freshLog, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaClient } from '../../../fixture/kafka/kafka-client.ts';
import { until } from '../../../fixture/until.ts';

const run = promisify(execFile);
const recordCount = 20_000;
const LIMITS = { waitMsMax: 1_000, partitionBytesMax: 1_048_576, responseBytesMax: 1_048_576 };
const ATTRIBUTES_AT = 21;

/** The codec of the first batch of partition 0. */
async function storedCodec(topic: string): Promise<number> {
  const { cluster, destroy } = await linkCluster(await kafkaConnection(), [topic]);
  const broker = await cluster.findBroker({ nodeId: leaderOf(cluster, topic, 0) });
  const { partitions } = await fetchTopic(broker, { topic, positions: [{ partition: 0, offset: 0 }], limits: LIMITS });
  destroy();
  return partitions[0].records.readInt16BE(ATTRIBUTES_AT) & CODEC_MASK;
}

for (const [compression, codec] of [
  ['gzip', 1],
  ['zstd', 4],
] as const) {
  kafkaTest(
    `scores compressed with ${compression} are read by any client, with their headers and timestamps`,
    async (t) => {
      const { connection, topics, log } = await freshLog(t, { compression });
      const session = await log.openPartition(0);
      const headers = [['traceparent', Buffer.from('00-abc')]] as const;
      const outputs = Array.from({ length: 500 }, (_, i) => {
        const place = { topic: topics.scores, partition: 0, key: Buffer.from('k') };
        return { ...place, value: Buffer.from(`{"score":${i},"forecast":null}`), headers, timestampMs: 86_400_000 + i };
      });
      await session.commit(outputs, 500);
      assert.equal(await storedCodec(topics.scores), codec);
      const read = await committedRecords(topics.scores, 0);
      assert.deepEqual(
        read.map((record) => [String(record.value), record.headers, record.timestampMs]),
        outputs.map((output) => [String(output.value), headers, output.timestampMs]),
      );
      const { kafka, destroy } = kafkaClient(connection);
      t.after(destroy);
      if (compression === 'zstd') return;
      const consumer = kafka.consumer({ groupId: `reader-${topics.scores}` });
      await consumer.connect();
      await consumer.subscribe({ topic: topics.scores, fromBeginning: true });
      let seen = 0;
      await consumer.run({
        eachBatch: async ({ batch }) => {
          seen += batch.messages.length;
        },
      });
      await until('kafkajs has read them', () => seen >= outputs.length);
      await consumer.disconnect();
    },
  );
}

kafkaTest("records that Kafka's own client compressed are read, in every codec", async () => {
  const { brokers } = (await kafkaConnection()).config;
  const classPath = await kafkaClassPath(cacheFolder());
  const topicOf = new Map<string, string>();
  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) topicOf.set(codec, (await freshTopics(1)).observations);
  const source = join(import.meta.dirname, '../../../fixture/kafka', 'CompressedRecords.java');
  const topics = [...topicOf].map(([codec, topic]) => `${codec}=${topic}`);
  await run('java', ['-cp', classPath, source, brokers[0], String(recordCount), ...topics]);
  for (const [codec, topic] of topicOf) {
    const values = (await committedRecords(topic, 0)).map(({ value }) => String(value));
    const written = Array.from({ length: recordCount }, (_, at) => `${codec}-${at}`);
    assert.deepEqual(values, written);
  }
});
