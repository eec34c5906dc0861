import assert from 'node:assert/strict';
import { createKafkaLog } from '../../src/stream/kafka/kafka-log.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../fixture/kafka.ts';

kafkaTest('the state of a large group, several megabytes in one record, is committed and read', async () => {
  const topics = await freshTopics(1);
  const log = createKafkaLog({ ...(await kafkaConnection()), topics, groupId: topics.observations, sessionMs: 3_000 });
  const writer = await log.openPartition(0);
  const value = Buffer.alloc(12_000_000, 'x');
  await writer.commit([{ topic: topics.changelog, partition: 0, key: Buffer.from('j/0'), value }], 0);
  let read = 0;
  const reader = await log.openPartition(0);
  await reader.readChangelog((_key, state) => {
    read = state!.length;
  });
  assert.equal(read, value.length);
  await log.close();
});
