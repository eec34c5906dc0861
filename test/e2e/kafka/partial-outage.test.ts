import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import type { StreamLog } from '../../../src/engine/log/log.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import {
  type AlterResponse,
  alteredResponses,
  FETCH,
  METADATA,
  withFetchError,
  withoutLeader,
} from '../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { type Listener, listen } from '../../fixture/stream/listener.ts';
import { until } from '../../fixture/until.ts';

const STORAGE_ERROR = 56;

/** A log on new topics with two partitions. `alter` may change what brokers answer. */
async function alteredLog(alter: AlterResponse) {
  const connection = await kafkaConnection();
  const topics = await freshTopics(2);
  const group = { topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
  const log = createKafkaLog({ ...connection, ...group, socketFactory: alteredResponses(alter) });
  const append = (partition: number, values: readonly string[]) => {
    const records = values.map((value) => ({ partition, key: null, value: Buffer.from(value) }));
    return produceRecords(connection, topics.observations, records);
  };
  return { log, topics, append };
}

async function follow(log: StreamLog): Promise<Listener> {
  const listener = await listen(log);
  await until('both partitions are assigned', () => listener.assignments.at(-1)?.length === 2);
  for (const partition of [0, 1]) listener.subscription.start(partition, 0);
  return listener;
}

const output = (topic: string, value: string) => ({ topic, partition: 0, key: null, value: Buffer.from(value) });

kafkaTest('a dead-letters topic without a leader stalls nothing that needs no dead letter', async (t) => {
  let leaderless = '';
  const { log, topics, append } = await alteredLog(({ apiKey, body }) => {
    if (apiKey === METADATA) withoutLeader(body, leaderless, 0);
  });
  t.after(() => log.close());
  leaderless = topics.deadLetters;
  await append(0, ['a']);
  await append(1, ['b']);
  const { values, stalled } = await follow(log);
  await until('both partitions are read', () => `${values(0)},${values(1)}` === 'a,b');
  const session = await log.openPartition(0);
  for (let offset = 1; offset <= 20; offset++) await session.commit([output(topics.scores, String(offset))], offset);
  assert.equal(stalled.size, 0);
  assert.equal((await committedRecords(topics.scores, 0)).length, 20);
  const refused = session.commit([output(topics.scores, 'no'), output(topics.deadLetters, 'letter')], 21);
  await assert.rejects(refused, { code: 'broker-unavailable' });
});

for (const [fault, alterFor] of [
  [
    'without a leader',
    (topic: string): AlterResponse =>
      ({ apiKey, body }) => {
        if (apiKey === METADATA) withoutLeader(body, topic, 1);
      },
  ],
  [
    'whose broker answers with an error',
    (): AlterResponse =>
      ({ apiKey, body }) => {
        if (apiKey === FETCH) withFetchError(body, 1, STORAGE_ERROR);
      },
  ],
] as const) {
  kafkaTest(`an input partition ${fault} is named, and its neighbour is read as before`, async (t) => {
    let alter: AlterResponse = () => undefined;
    const { log, topics, append } = await alteredLog((response) => alter(response));
    t.after(() => log.close());
    alter = alterFor(topics.observations);
    const { values, stalled, connections } = await follow(log);
    await append(1, ['b']);
    await until('partition 1 is named', () => stalled.has(1));
    for (let i = 0; i < 50; i++) {
      await append(0, [String(i)]);
      await until('the neighbour is read', () => values(0).length === i + 1, { everyMs: 5 });
    }
    assert.deepEqual(values(1), []);
    assert.ok(connections.every((error) => error === null));
    alter = () => undefined;
    await until('it recovers', () => stalled.size === 0 && String(values(1)) === 'b');
  });
}
