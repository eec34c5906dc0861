import assert from 'node:assert/strict';
import { freshLog, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaClient } from '../../../fixture/kafka/kafka-client.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

kafkaTest(
  'a hanging transaction in the changelog is named, and nothing is restored from what is before it',
  async (t) => {
    const { connection, topics, log } = await freshLog(t);
    const written = await log.openPartition(0);
    const state = (value: string) => [
      { topic: topics.changelog, partition: 0, key: Buffer.from('k'), value: Buffer.from(value) },
    ];
    await written.commit(state('1'), 1);
    const { kafka, destroy } = kafkaClient(connection);
    t.after(destroy);
    const foreign = kafka.producer({ transactionalId: `foreign-${topics.changelog}`, maxInFlightRequests: 1 });
    await foreign.connect();
    const hanging = await foreign.transaction();
    await hanging.send({ topic: topics.changelog, messages: [{ partition: 0, key: 'x', value: 'never committed' }] });
    await written.commit(state('2'), 2);
    const session = await log.openPartition(0);
    const reading = session.readChangelog(() => assert.fail('nothing is to be restored'));
    await assert.rejects(reading, { code: 'broker-unavailable', message: /transaction hangs in partition 0 of topic/ });
    await hanging.abort();
    const read: string[] = [];
    await (await log.openPartition(0)).readChangelog((_key, value) => read.push(String(value)));
    assert.deepEqual(read, ['1', '2']);
    await foreign.disconnect();
  },
);

kafkaTest('a hanging transaction in the input is named in readiness and once in the log, until it ends', async (t) => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const records = waves(1, 20, 1);
  const [before, after] = [records.slice(0, 10), records.slice(10)];
  const worker = await stream.startWorker();
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  await stream.feed(before);
  await stream.settled();
  const { kafka, destroy } = kafkaClient(await kafkaConnection());
  t.after(destroy);
  const topic = stream.topics.observations;
  const foreign = kafka.producer({ transactionalId: `foreign-${topic}`, maxInFlightRequests: 1 });
  await foreign.connect();
  const hanging = await foreign.transaction();
  await hanging.send({ topic, messages: [{ partition: 0, value: 'never committed' }] });
  // They can be read, and none of them may be.
  await stream.feed(after);
  const text = `A transaction hangs in partition 0 of topic ${topic} since offset ${before.length}`;
  await until('readiness names it', async () => {
    const { status, reasons } = (await worker.readiness())!;
    return status === 503 && String(reasons).startsWith(`partition 0 makes no progress: ${text}`);
  });
  await until('it is logged', () => worker.said().includes(text));
  await until('its lag is seen', async () => (await worker.metric('tidewatch_lag_records')) > 0);
  assert.equal(worker.sentences().length, 0);
  assert.equal(worker.said().split(text).length - 1, 1, 'it is logged once');
  await hanging.abort();
  await foreign.disconnect();
  await until('it is ready again', async () => (await worker.readiness())?.status === 200);
  await until('all are scored', async () => (await stream.scores()).length === records.length);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest('nothing is left behind markers of transactions, also of aborted ones: the lag is 0', async (t) => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const worker = await stream.startWorker();
  const connection = await kafkaConnection();
  const { kafka, destroy } = kafkaClient(connection);
  t.after(destroy);
  const topic = stream.topics.observations;
  const producer = kafka.producer({ transactionalId: `sender-${topic}`, maxInFlightRequests: 1 });
  await producer.connect();
  const records = waves(1, 20, 1).map(({ key, value }) => ({ partition: 0, key, value }));
  const send = async (messages: typeof records, end: 'commit' | 'abort') => {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages });
    await transaction[end]();
  };
  await send(records.slice(0, 10), 'commit');
  await stream.settled();
  await send(records, 'abort');
  await stream.settled();
  await send(records.slice(10), 'commit');
  // It compares the committed offset with the end of the topic, as tools of Kafka do.
  await stream.settled();
  await until('the metric is 0', async () => (await worker.metric('tidewatch_lag_records')) === 0);
  assert.equal((await stream.scores()).length, records.length);
  await producer.disconnect();
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  const restarted = await stream.startWorker();
  await until('it is ready', async () => (await restarted.readiness())?.status === 200);
  assert.equal((await stream.deadLetters()).length, 0);
  assert.deepEqual(await restarted.stop(), { code: 0, signal: null });
});
