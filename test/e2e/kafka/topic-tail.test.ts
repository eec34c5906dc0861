import assert from 'node:assert/strict';
import { kafkaClient } from '../../../src/stream/log/kafka/cluster/connection.ts';
import { type TailOptions, type TailPlace, tailTopic } from '../../../src/stream/log/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../src/stream/log/kafka/produce/bulk-producer.ts';
import { alteredResponses, FETCH, withFetchError } from '../../fixture/kafka/altered-responses.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const STORAGE_ERROR = 56;

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

kafkaTest('a tail loses no record of a partition when another one cannot be read', async (t) => {
  const connection = await kafkaConnection();
  const { scores: topic } = await freshTopics(2);
  let failing = true;
  // Partition 1 comes after partition 0 in every response.
  const socketFactory = alteredResponses(({ apiKey, body }) => {
    if (apiKey === FETCH && failing) withFetchError(body, 1, STORAGE_ERROR);
  });
  const seen: string[] = [];
  let losses = 0;
  const tail = await tailTopic(
    { ...connection, socketFactory },
    { topic, from: 'earliest' },
    {
      onRecords: (records) => void seen.push(...records.map(({ value }) => String(value))),
      onConnection: (error) => {
        if (error !== null) losses++;
      },
    },
  );
  t.after(() => tail.stop());
  const record = (partition: number, value: string) => ({ partition, key: null, value: Buffer.from(value) });
  await produceRecords(connection, topic, [record(0, 'a'), record(0, 'b'), record(1, 'c')]);
  await until('partition 0 is read', () => seen.length === 2);
  assert.ok(losses > 0);
  failing = false;
  await until('partition 1 is read', () => seen.length === 3);
  assert.deepEqual(seen, ['a', 'b', 'c']);
});
