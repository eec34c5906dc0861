import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Topics } from '../../../../src/config/config.ts';
import { ensureTopics } from '../../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import { append, freshLog, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { deliveredFrom, placed } from '../../../fixture/stream/listener.ts';
import { until } from '../../../fixture/until.ts';

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
