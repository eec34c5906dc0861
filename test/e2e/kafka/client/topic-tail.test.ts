import assert from 'node:assert/strict';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import type { TailPlace } from '../../../../src/kafka/fetch/tail-place.ts';
import { type TailOptions, tailTopic } from '../../../../src/kafka/fetch/topic-tail.ts';
import {
  type AlterResponse,
  alteredResponses,
  FETCH,
  METADATA,
  withDamagedRecord,
  withFetchError,
  withoutLeader,
} from '../../../fixture/kafka/altered-responses.ts';
import { append, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { until } from '../../../fixture/until.ts';

const STORAGE_ERROR = 56;
const NOT_LEADER = 6;

kafkaTest('a tail that retention overtakes continues with the oldest record', async () => {
  const connection = await kafkaConnection();
  const { scores: topic } = await freshTopics(1);
  const feed = (...values: string[]) => append(topic, values);
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
  await asAdmin(connection, 'records were deleted', async (admin) => {
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] });
  });
  await feed('last');
  open();
  await lastSeen;
  await tail.stop();
  assert.deepEqual(seen, ['first', 'last']);
});

kafkaTest('a tail begins where an earlier one was, unless the topic was created again', async () => {
  const connection = await kafkaConnection();
  const { scores: topic } = await freshTopics(2);
  const feed = (partition: number, ...values: string[]) => append(topic, values, partition);
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

/** Partition 1 comes after partition 0 in every response. */
const FAULTS: readonly (readonly [string, (response: Parameters<AlterResponse>[0], topic: string) => void])[] = [
  [
    'answers with an error',
    ({ apiKey, body }) => {
      if (apiKey === FETCH) withFetchError(body, 1, STORAGE_ERROR);
    },
  ],
  [
    'has damaged records',
    ({ apiKey, body }) => {
      if (apiKey === FETCH) withDamagedRecord(body, 1);
    },
  ],
  [
    'has no leader',
    ({ apiKey, body }, topic) => {
      if (apiKey === METADATA) withoutLeader(body, topic, 1);
      if (apiKey === FETCH) withFetchError(body, 1, NOT_LEADER);
    },
  ],
];

for (const [fault, alter] of FAULTS) {
  kafkaTest(`a tail reads on, and loses no record, while another partition ${fault}`, async (t) => {
    const connection = await kafkaConnection();
    const { scores: topic } = await freshTopics(2);
    let failing = false;
    const socketFactory = alteredResponses((response) => {
      if (failing) alter(response, topic);
    });
    const seen: string[] = [];
    const told: boolean[] = [];
    const tail = await tailTopic(
      { ...connection, socketFactory },
      { topic, from: 'earliest' },
      {
        onRecords: (records) => void seen.push(...records.map(({ value }) => String(value))),
        onConnection: (error) => void told.push(error === null),
      },
    );
    t.after(() => tail.stop());
    failing = true;
    await Promise.all([append(topic, ['a']), append(topic, ['of the other'], 1)]);
    await until('the failure is told', () => told.length > 0);
    for (const value of ['b', 'c', 'd']) {
      await append(topic, [value]);
      await until('it is read', () => seen.includes(value));
    }
    assert.deepEqual([seen, told], [['a', 'b', 'c', 'd'], [false]]);
    failing = false;
    await until('the end of the failure is told', () => told.length > 1);
    assert.deepEqual([seen.slice(4), told], [['of the other'], [false, true]]);
  });
}
