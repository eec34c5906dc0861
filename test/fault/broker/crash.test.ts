import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { alteredResponses } from '../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';

const broker = ownKafka();

const END_TXN = 26;
/** Crashes until one catches the broker between its decision to commit and its markers: most often one of the first. */
const CRASHES_MAX = 12;

kafkaTest('a commit that a crash of the broker left unfinished is visible after it, once', async (t) => {
  const connection = await kafkaConnection();
  const kafka = await broker();
  const topics = await freshTopics(1);
  let unfinished = 0;
  let killed: Promise<void> | null = null;
  let armed = false;
  const log = createKafkaLog({
    ...connection,
    topics,
    groupId: 'crashing',
    sessionMs: 3_000,
    // The broker answers EndTxn when it has decided, and writes the markers just after that.
    socketFactory: alteredResponses(({ apiKey }) => {
      if (armed && apiKey === END_TXN) killed ??= kafka.kill();
    }),
    log: (_level, text) => {
      if (/left a commit of partition 0 unfinished/.test(text)) unfinished++;
    },
  });
  t.after(() => log.close());
  const output = (value: number) => [
    { topic: topics.scores, partition: 0, key: null, value: Buffer.from(String(value)) },
  ];
  let crashes = 0;
  for (; unfinished === 0 && crashes < CRASHES_MAX; crashes++) {
    const session = await log.openPartition(0);
    assert.equal(session.committedOffset ?? 0, 2 * crashes);
    armed = true;
    await session.commit(output(2 * crashes), 2 * crashes + 1);
    armed = false;
    await killed;
    killed = null;
    const waiting = log.openPartition(0);
    await kafka.restart();
    const next = await waiting;
    assert.equal(next.committedOffset, 2 * crashes + 1);
    await next.commit(output(2 * crashes + 1), 2 * crashes + 2);
  }
  t.diagnostic(`${unfinished} of ${crashes} crashes left a commit unfinished`);
  const values = (await committedRecords(topics.scores, 0)).map(({ value }) => Number(value));
  const expected = Array.from({ length: 2 * crashes }, (_, at) => at);
  assert.deepEqual(values, expected);
});
