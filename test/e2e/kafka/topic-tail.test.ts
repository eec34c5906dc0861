import assert from 'node:assert/strict';
import { produceRecords } from '../../../src/stream/log/kafka/bulk-producer.ts';
import { kafkaClient } from '../../../src/stream/log/kafka/connection.ts';
import { type TailOptions, type TailPlace, tailTopic } from '../../../src/stream/log/kafka/topic-tail.ts';
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

kafkaTest('a tail begins where an earlier one was, unless the topic was created anew', async () => {
  const connection = await kafkaConnection();
  const { scores: topic } = await freshTopics(2);
  const feed = (partition: number, ...values: string[]) =>
    produceRecords(
      connection,
      topic,
      values.map((value) => ({ partition, key: null, value: Buffer.from(value) })),
    );
  const readUntil = async (last: string, from: TailOptions['from']) => {
    const { promise: seen, resolve } = Promise.withResolvers<TailPlace>();
    const values: string[] = [];
    const tail = await tailTopic(
      connection,
      { topic, from },
      {
        onRecords(records, after) {
          values.push(...records.map(({ value }) => String(value)));
          if (values.includes(last)) resolve(after);
        },
      },
    );
    const place = await seen;
    await tail.stop();
    return { values: values.sort(), place };
  };
  await feed(0, 'a', 'b');
  const first = await readUntil('b', 'earliest');
  assert.match(String(first.place.topicId), /^[0-9a-f]{32}$/);
  assert.deepEqual(
    first.place.positions,
    new Map([
      [0, 2],
      [1, 0],
    ]),
  );
  await feed(1, 'c');
  const second = await readUntil('c', first.place);
  assert.deepEqual(second.values, ['c']);
  const other = await readUntil('c', { ...second.place, topicId: 'f'.repeat(32) });
  assert.deepEqual(other.values, ['a', 'b', 'c'], 'positions of another topic of the name do not count');
});
