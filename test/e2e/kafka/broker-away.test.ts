import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { until } from '../../fixture/until.ts';

const broker = ownKafka();

const PARTITIONS = 4;
const BATCH = 40;
const records = waves(20, 60, PARTITIONS);

kafkaTest(
  'a worker says that the broker is away, comes back by itself, loses nothing and scores nothing twice',
  async (t) => {
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
      return status === 503 && /Kafka is out of reach/.test(reasons.join());
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
  },
);

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
