import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/stream/log/kafka/kafka-log.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest, sharedKafka } from '../../fixture/kafka/kafka.ts';

/** About one crash in eight catches the broker between its promise to commit and the markers that carry it out. */
const crashes = 4;

kafkaTest('a commit just before a broker crash is visible after it, once', async (t) => {
  const connection = await kafkaConnection();
  const kafka = await sharedKafka();
  const topics = await freshTopics(1);
  const log = createKafkaLog({ ...connection, topics, groupId: 'crashing', sessionMs: 3_000 });
  t.after(() => log.close());
  const output = (value: number) => [
    { topic: topics.scores, partition: 0, key: null, value: Buffer.from(String(value)) },
  ];
  for (let crash = 0; crash < crashes; crash++) {
    const session = await log.openPartition(0);
    assert.equal(session.committedOffset, 2 * crash);
    await session.commit(output(2 * crash), 2 * crash + 1);
    await kafka.kill();
    const waiting = log.openPartition(0);
    await kafka.restart();
    const next = await waiting;
    assert.equal(next.committedOffset, 2 * crash + 1);
    await next.commit(output(2 * crash + 1), 2 * crash + 2);
  }
  const values = (await committedRecords(topics.scores, 0)).map(({ value }) => Number(value));
  assert.deepEqual(
    values,
    Array.from({ length: 2 * crashes }, (_, at) => at),
  );
});
