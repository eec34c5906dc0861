import assert from 'node:assert/strict';
import { produceRecords } from '../../../src/stream/log/kafka/bulk-producer.ts';
import { kafkaClient } from '../../../src/stream/log/kafka/connection.ts';
import { tailTopic } from '../../../src/stream/log/kafka/topic-tail.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';

kafkaTest('a tail that retention overtakes continues with the oldest record', async () => {
  const connection = await kafkaConnection();
  const { scores: topic } = await freshTopics(1);
  const feed = (...values: string[]) =>
    produceRecords(
      connection,
      topic,
      values.map((value) => ({ partition: 0, key: null, value: Buffer.from(value) })),
    );
  await feed('first');
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: firstSeen, resolve: onFirst } = Promise.withResolvers<void>();
  const { promise: lastSeen, resolve: onLast } = Promise.withResolvers<void>();
  const seen: string[] = [];
  const tail = await tailTopic(
    connection,
    { topic, from: 'earliest' },
    {
      async onRecords(records) {
        seen.push(...records.map(({ value }) => String(value)));
        onFirst();
        await gate;
        if (seen.includes('last')) onLast();
      },
    },
  );
  await firstSeen;
  await feed('deleted', 'deleted as well');
  const { kafka, destroy } = kafkaClient(connection);
  const admin = kafka.admin();
  await admin.connect();
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] });
  await admin.disconnect();
  destroy();
  await feed('last');
  open();
  await lastSeen;
  await tail.stop();
  assert.deepEqual(seen, ['first', 'last']);
});
