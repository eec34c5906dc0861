import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { readConsumerGroup } from '../../../src/kafka/admin/consumer-group.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../fixture/kafka/unreliable-sockets.ts';
import { until } from '../../fixture/until.ts';

const PRODUCE = 0;
const END_TXN = 26;
const TXN_OFFSET_COMMIT = 28;
/** Well before the time-out of a request. */
const END_MS_MAX = 10_000;

kafkaTest('a session that is closed ends its requests in flight, and not those of others', async (t) => {
  const topics = await freshTopics(2);
  let held: (() => void)[] | null = null;
  const socketFactory = unreliableSockets((apiKey) => {
    if (held === null || apiKey !== END_TXN) return 'sent';
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(resolve);
    return promise;
  });
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...(await kafkaConnection()), topics, groupId, sessionMs: 3_000, socketFactory });
  t.after(() => log.close());
  const [closed, other] = [await log.openPartition(0), await log.openPartition(1)];
  held = [];
  const commits = [closed, other].map((session) => session.commit([], 1));
  const ended = commits[0].catch((error: { code: string }) => error.code);
  await until('both wait', () => held?.length === 2);
  await closed.close();
  assert.equal(await Promise.race([ended, sleep(END_MS_MAX, 'still there', { ref: false })]), 'broker-unavailable');
  for (const send of held) send();
  await commits[1];
  assert.equal((await log.openPartition(1)).committedOffset, 1);
});

/** More than brokers accept by default. */
const METADATA_BYTES = 5_000;

kafkaTest('metadata that are too long for the broker are left out of the commit', async (t) => {
  const topics = await freshTopics(1);
  const connection = await kafkaConnection();
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs: 3_000 });
  t.after(() => log.close());
  const session = await log.openPartition(0);
  const written = async () => {
    const { partitions } = await readConsumerGroup(connection, { groupId, topic: topics.observations });
    return partitions.map(({ nextOffset, metadata }) => [nextOffset, metadata]);
  };
  // The offset is there once the marker of the transaction is written, which may be after the answer to its commit.
  const untilWritten = (offset: number) => until('it is written', async () => (await written())[0]?.[0] === offset);
  await session.commit([], 1, 'short');
  await untilWritten(1);
  assert.deepEqual(await written(), [[1, 'short']]);
  await session.commit([], 2, 'x'.repeat(METADATA_BYTES));
  await untilWritten(2);
  assert.deepEqual(await written(), [[2, null]]);
});

/** Longer than the coordinator takes to add the offsets. */
const PRODUCE_MS = 500;

kafkaTest('a broker never checks records and offset of one transaction at once', async (t) => {
  const topics = await freshTopics(1);
  const sent: number[] = [];
  const socketFactory = unreliableSockets((apiKey) => {
    if (apiKey === TXN_OFFSET_COMMIT) sent.push(apiKey);
    return apiKey === PRODUCE ? sleep(PRODUCE_MS).then(() => void sent.push(apiKey)) : 'sent';
  });
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...(await kafkaConnection()), topics, groupId, sessionMs: 3_000, socketFactory });
  t.after(() => log.close());
  const session = await log.openPartition(0);
  await session.commit([{ topic: topics.scores, partition: 0, key: null, value: Buffer.from('{}') }], 1);
  assert.deepEqual(sent, [PRODUCE, TXN_OFFSET_COMMIT]);
});
