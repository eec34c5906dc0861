import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkTopics, ensureTopics } from '../../../../src/engine/topics/topic-admin.ts';
import { asAdmin, makeTopics } from '../../../../src/kafka/admin/admin-client.ts';
import { readTail, tailTopic } from '../../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import { append, committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';

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
    const wanted = new RegExp(`Topic ${topic} has max\\.message\\.bytes=262144, and gets batches of up to 1000000`);
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
  assert.deepEqual(
    tail.map(({ value }) => String(value)),
    values.slice(-7),
  );
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
