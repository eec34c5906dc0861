import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Topics } from '../../../../src/config/config.ts';
import { topicsInUse } from '../../../../src/engine/topics/changelog-name.ts';
import { checkTopics, delayedCompaction, ensureTopics } from '../../../../src/engine/topics/topic-admin.ts';
import { asAdmin, makeTopics } from '../../../../src/kafka/admin/admin-client.ts';
import type { TailPlace } from '../../../../src/kafka/fetch/tail-place.ts';
import { readTail, type TailOptions, tailTopic } from '../../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import {
  type AlterResponse,
  alteredResponses,
  FETCH,
  METADATA,
  withDamagedRecord,
  withFetchError,
  withoutLeader,
} from '../../../fixture/kafka/altered-responses.ts';
import {
  append,
  committedRecords,
  freshLog,
  freshTopics,
  kafkaConnection,
  kafkaTest,
} from '../../../fixture/kafka/kafka.ts';
import { deliveredFrom, placed } from '../../../fixture/stream/listener.ts';
import { streamConfig } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

kafkaTest('a group that has scored keeps the changelog of the earlier name, a new group has its own', async (t) => {
  const { connection, topics: earlier, log } = await freshLog(t, { groupId: 'has-scored' });
  const topics = { ...earlier, changelog: `own-${earlier.changelog}` };
  const { input } = streamConfig([]);
  const stream = (groupId: string) => ({ input, topics, groupId, earlierChangelog: earlier.changelog });
  await (await log.openPartition(0)).commit([], 1);
  // The offset is there once the marker of the transaction is written, which may be after the answer to its commit.
  const isKept = async () => (await topicsInUse(connection, stream('has-scored'))).changelog === earlier.changelog;
  await until('the group has scored', isKept);
  assert.equal((await topicsInUse(connection, stream('is-new'))).changelog, topics.changelog);
});

kafkaTest('a changelog of the own name is used, and a name of the detectors file always', async () => {
  const connection = await kafkaConnection();
  const [topics, earlier] = [await freshTopics(1), await freshTopics(1)];
  const { input } = streamConfig([]);
  const own = { input, topics, groupId: 'any', earlierChangelog: earlier.changelog };
  assert.deepEqual(await topicsInUse(connection, own), topics);
  const named = { input, topics: { ...topics, changelog: 'missing' }, groupId: 'any', earlierChangelog: null };
  assert.equal((await topicsInUse(connection, named)).changelog, 'missing');
});

const creation = { partitions: 2, replicationFactor: 1, retentionMs: 86_400_000 };

function mismatch(wanted: RegExp) {
  return (error: unknown) => {
    assert.equal((error as { code?: string }).code, 'topic-mismatch');
    assert.match((error as Error).message, wanted);
    return true;
  };
}

kafkaTest('topics are created once, and pass the check', async () => {
  const connection = await kafkaConnection();
  const topics = await freshTopics(3);
  assert.equal(await checkTopics(connection, topics), 3);
  assert.deepEqual(await ensureTopics(connection, topics, creation), []);
});

kafkaTest('missing topics are named', async () => {
  const connection = await kafkaConnection();
  const topics = { ...(await freshTopics(1)), scores: `scores-${randomUUID()}` };
  await assert.rejects(checkTopics(connection, topics), mismatch(new RegExp(`missing: ${topics.scores}`)));
});

kafkaTest('different partition counts are refused with their numbers', async () => {
  const connection = await kafkaConnection();
  const topics = { ...(await freshTopics(3)), scores: `scores-${randomUUID()}` };
  assert.deepEqual(await ensureTopics(connection, topics, creation), [topics.scores]);
  await assert.rejects(checkTopics(connection, topics), mismatch(new RegExp(`${topics.scores} has 2`)));
});

kafkaTest('a changelog that is not compacted is refused', async () => {
  const connection = await kafkaConnection();
  const made = await freshTopics(2);
  const topics = { ...made, changelog: made.scores };
  await assert.rejects(checkTopics(connection, topics), mismatch(/cleanup\.policy=delete/));
});

kafkaTest('settings that delay the compaction of a changelog are named, with ours', async () => {
  const connection = await kafkaConnection();
  const { changelog, scores } = await freshTopics(1);
  assert.equal(await delayedCompaction(connection, changelog), null);
  const named = await delayedCompaction(connection, scores);
  assert.match(named!, new RegExp(`^Kafka compacts ${scores} late`));
  assert.match(named!, /min\.cleanable\.dirty\.ratio=0\.5 \(to 0\.3\)/);
  assert.match(named!, /max\.compaction\.lag\.ms=\d+ \(to 21600000\)/);
});

kafkaTest('a topic that refuses large batches is named, with the setting', async () => {
  const connection = await kafkaConnection();
  const made = await freshTopics(2);
  for (const [use, policy, numPartitions] of [
    ['changelog', 'compact', 2],
    ['deadLetters', 'delete', 1],
  ] as const) {
    const topic = `small-${randomUUID()}`;
    const configEntries = [
      { name: 'cleanup.policy', value: policy },
      { name: 'max.message.bytes', value: '262144' },
    ];
    await asAdmin(connection, 'a topic was made', (admin) =>
      makeTopics(admin, [{ topic, numPartitions, replicationFactor: 1, configEntries }]),
    );
    const wanted = new RegExp(`Topic ${topic} has max\\.message\\.bytes=262144, but batches may have 1000000`);
    await assert.rejects(checkTopics(connection, { ...made, [use]: topic }), mismatch(wanted));
  }
});

kafkaTest('records go to the partition of their key as Kafka places it', async () => {
  const connection = await kafkaConnection();
  const topics = await freshTopics(8);
  // Computed with org.apache.kafka.common.utils.Utils: toPositive(murmur2(key)) % 8.
  const placed = new Map([
    ['a', 4],
    ['series-1', 3],
    ['host.cpu.user', 1],
  ]);
  await produceRecords(
    connection,
    topics.observations,
    [...placed.keys()].map((key) => ({ key: Buffer.from(key), value: Buffer.from(key), timestampMs: 1_000 })),
  );
  for (const [key, partition] of placed) {
    const found = (await committedRecords(topics.observations, partition)).map((record) => [
      String(record.key),
      record.timestampMs,
    ]);
    assert.deepEqual(found, [[key, 1_000]]);
  }
});

kafkaTest('the tail of a partition is its newest records', async () => {
  const connection = await kafkaConnection();
  const { scores } = await freshTopics(1);
  const values = Array.from({ length: 100 }, (_, at) => String(at));
  await append(scores, values);
  const tail = await readTail(connection, { topic: scores, partition: 0, recordsMax: 7 });
  const actual = tail.map(({ value }) => String(value));
  assert.deepEqual(actual, values.slice(-7));
  assert.deepEqual(await readTail(connection, { topic: scores, partition: 0, recordsMax: 0 }), []);
});

kafkaTest('a tail delivers records from the requested start until it is stopped', async () => {
  const connection = await kafkaConnection();
  const { scores } = await freshTopics(2);
  const send = (value: string) => append(scores, [value], 1);
  await send('old');
  const seen = { earliest: [] as string[], latest: [] as string[] };
  const tail = (from: 'earliest' | 'latest') =>
    tailTopic(
      connection,
      { topic: scores, from },
      {
        onRecords: (records) => void seen[from].push(...records.map(({ value }) => String(value))),
      },
    );
  const [earliest, latest] = await Promise.all([tail('earliest'), tail('latest')]);
  await send('new');
  while (!seen.earliest.includes('new') || !seen.latest.includes('new')) await sleep(5);
  await latest.stop();
  await send('newest');
  while (!seen.earliest.includes('newest')) await sleep(5);
  await earliest.stop();
  assert.deepEqual(seen, { earliest: ['old', 'new', 'newest'], latest: ['new'] });
});

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

/** Delivers partition 0 from an offset. */
async function deliver(t: TestContext, topics: Topics, offset: number): Promise<() => readonly unknown[]> {
  const { log } = await freshLog(t, { topics });
  const records = await deliveredFrom(log, offset);
  return () => records.map(placed);
}

/** A deleted topic may be shown for a while. */
async function makeAnew(topics: Topics): Promise<void> {
  const connection = await kafkaConnection();
  const { observations } = topics;
  await asAdmin(connection, 'a topic was deleted', (admin) => admin.deleteTopics({ topics: [observations] }));
  await until('the topic is empty', async () => {
    await ensureTopics(connection, topics, { partitions: 1, replicationFactor: 1, retentionMs: null });
    const ends = await asAdmin(connection, 'ends were read', (admin) => admin.fetchTopicOffsets(observations));
    return ends.length === 1 && ends[0].high === '0';
  });
}

const TEN = Array.from({ length: 10 }, (_, i) => `v${i}`);

kafkaTest('records that retention deleted are named in the place of their offsets', async (t) => {
  const topics = await freshTopics(1);
  await append(topics.observations, TEN);
  await asAdmin(await kafkaConnection(), 'records were deleted', async (admin) => {
    // It needs the metadata of the topic, and does not load them itself.
    await admin.fetchTopicOffsets(topics.observations);
    await admin.deleteTopicRecords({ topic: topics.observations, partitions: [{ partition: 0, offset: '7' }] });
  });
  const delivered = await deliver(t, topics, 2);
  await until('the newest arrived', () => delivered().at(-1) === '9:v9');
  assert.deepEqual(delivered(), [{ first: 2, last: 6, reason: 'records-expired' }, '7:v7', '8:v8', '9:v9']);
});

kafkaTest('after a truncation reading continues at the end, and the lost offsets are named', async (t) => {
  const topics = await freshTopics(1);
  await append(topics.observations, TEN);
  const delivered = await deliver(t, topics, 50);
  await until('the range is named', () => delivered().length > 0);
  await append(topics.observations, ['new']);
  await until('the new record arrived', () => delivered().length > 1);
  assert.deepEqual(delivered(), [{ first: 10, last: 49, reason: 'records-truncated' }, '10:new']);
});

kafkaTest('a topic that was created again is read from its beginning', async (t) => {
  const topics = await freshTopics(1);
  await append(topics.observations, TEN);
  const delivered = await deliver(t, topics, 9);
  await until('the last one arrived', () => delivered().length === 1);
  await makeAnew(topics);
  await append(topics.observations, ['first']);
  await until('the first one arrived', () => delivered().at(-1) === '0:first');
  assert.deepEqual(delivered(), ['9:v9', { first: 10, last: 10, reason: 'topic-recreated' }, '0:first']);
});

kafkaTest('a topic that was created again and has the position again is read from its beginning', async (t) => {
  const topics = await freshTopics(1);
  await append(topics.observations, TEN.slice(0, 3));
  const delivered = await deliver(t, topics, 2);
  await until('the last one arrived', () => delivered().length === 1);
  await makeAnew(topics);
  await append(topics.observations, TEN);
  await until('the newest arrived', () => delivered().at(-1) === '9:v9');
  const anew = TEN.map((value, offset) => `${offset}:${value}`);
  assert.deepEqual(delivered(), ['2:v2', { first: 3, last: 3, reason: 'topic-recreated' }, ...anew]);
});
