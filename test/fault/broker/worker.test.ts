import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { listen } from '../../fixture/stream/listener.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { observationRecord } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';

const broker = ownKafka();

const PARTITIONS = 4;
const BATCH = 40;
const records = waves(20, 60, PARTITIONS);

kafkaTest('a worker reports that the broker is away, recovers alone, and scores everything once', async (t) => {
  const kafka = await broker();
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const worker = await stream.startWorker();
  await until('the worker is ready', async () => (await worker.readiness())?.status === 200);
  assert.equal(await worker.metric('tidewatch_broker_connected'), 1);

  // The second half is in the topic before the broker goes, so that it goes under load.
  const half = records.length / 2;
  await stream.feedSlowly(records.slice(0, half), { batch: BATCH, everyMs: 50 });
  await stream.feed(records.slice(half));
  await kafka.kill();
  await until('the worker says so', async () => {
    const { status, reasons } = (await worker.readiness())!;
    return status === 503 && /Kafka cannot be reached/.test(reasons.join());
  });
  await until('it is counted', async () => (await worker.metric('tidewatch_broker_connected')) === 0);
  await sleep(2_000);
  assert.equal((await worker.readiness())?.status, 503);

  await kafka.restart();
  const startedMs = performance.now();
  await stream.settled();
  t.diagnostic(`all was scored ${Math.round(performance.now() - startedMs)} ms after the broker was back`);
  await until('the worker is ready again', async () => (await worker.readiness())?.status === 200);
  assert.equal(await worker.metric('tidewatch_broker_connected'), 1);
  assertScoredOnce(await stream.scores(), records);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest('a worker that is stopped while the broker is out of reach ends in time', async (t) => {
  const kafka = await broker();
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const worker = await stream.startWorker({ SHUTDOWN_MS_MAX: '3000' });
  await until('the worker is ready', async () => (await worker.readiness())?.status === 200);
  await stream.feed(records);
  await kafka.kill();
  await until('the worker is not ready', async () => (await worker.readiness())?.status === 503);
  const startedMs = performance.now();
  const end = await worker.stop();
  t.diagnostic(`ended after ${Math.round(performance.now() - startedMs)} ms`);
  await kafka.restart();
  assert.deepEqual(end, { code: 0, signal: null });
});

kafkaTest('a worker whose broker does not answer ends when its shutdown time is over', async (t) => {
  const kafka = await broker();
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const worker = await stream.startWorker({ SHUTDOWN_MS_MAX: '2000' });
  await until('the worker is ready', async () => (await worker.readiness())?.status === 200);
  const feeding = stream.feedSlowly(records, { batch: 10, everyMs: 20 });
  await until('something is scored', async () => (await worker.metric('tidewatch_commit_records_count')) > 3);
  kafka.freeze();
  // A transaction must be on its way: the next one begins within the commit interval.
  await sleep(500);
  const ended = worker.stop();
  // Well before the time-out of the request, 20 s, which the process must not wait for.
  const end = await Promise.race([ended, sleep(15_000, 'still there', { ref: false })]);
  kafka.thaw();
  await Promise.all([ended, feeding]);
  t.diagnostic(`${(await stream.scores()).length} of ${records.length} scored`);
  assert.deepEqual(end, { code: 0, signal: null });
});

kafkaTest('a worker that starts before its brokers waits for them, not ready, and scores', async () => {
  const kafka = await broker();
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  await stream.feed([{ partition: 0, ...observationRecord('series', 0, 1) }]);
  await kafka.kill();
  const worker = await stream.startWorker();
  await until('it says that it waits', async () =>
    String((await worker.readiness())?.reasons).startsWith('No Kafka could be reached at '),
  );
  assert.equal((await worker.readiness())?.status, 503);
  await kafka.restart();
  await stream.settled();
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  assert.equal((await stream.scores()).length, 1);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest('a member that returns while the topic is missing joins again once the topic is back', async (t) => {
  const connection = await kafkaConnection();
  const kafka = await broker();
  const topics = await freshTopics(2);
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs: 3_000 });
  t.after(() => log.close());
  const { assignments, connections } = await listen(log);
  await until('it is assigned', () => assignments.at(-1)?.length === 2);
  await asAdmin(connection, 'the topic was deleted', (admin) => admin.deleteTopics({ topics: [topics.observations] }));
  await kafka.kill();
  await kafka.restart();
  // It connects meanwhile, several times, and the topic is not there.
  await sleep(3_000);
  await ensureTopics(connection, topics, { partitions: 2, replicationFactor: 1, retentionMs: null });
  const members = async () => {
    const { groups } = await asAdmin(connection, 'members were listed', (admin) => admin.describeGroups([groupId]));
    return groups[0].members.length;
  };
  await until('the group has a member', async () => (await members()) === 1);
  await until('it is in reach', () => connections.at(-1) === null && assignments.at(-1)?.length === 2);
});
