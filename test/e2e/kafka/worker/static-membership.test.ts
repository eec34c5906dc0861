import assert from 'node:assert/strict';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import type { WorkerProcess } from '../../../fixture/kafka/worker-process.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

const PARTITIONS = 4;

const started = (stream: KafkaStream, id: string): Promise<WorkerProcess> =>
  stream.startWorker({ KAFKA_GROUP_INSTANCE_ID: id, KAFKA_SESSION_MS: '30000' });

const assignments = (worker: WorkerProcess) => worker.logged('assigned').map(({ partitions }) => partitions);

const isReady = async (worker: WorkerProcess) => (await worker.readiness())?.status === 200;

kafkaTest('a static worker that comes back within the session time-out keeps its partitions', async () => {
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const records = waves(8, 30, PARTITIONS);
  // The first one leads the group.
  const first = await started(stream, 'worker-0');
  await until('the first one is ready', () => isReady(first));
  const second = await started(stream, 'worker-1');
  await until('they share the partitions', async () => {
    const shares = [first, second].map((worker) => (assignments(worker).at(-1) as number[] | undefined)?.length);
    return shares.join() === '2,2' && (await isReady(first)) && (await isReady(second));
  });
  const before = [assignments(first), assignments(second)];
  await stream.feed(records.slice(0, records.length / 2));
  await stream.settled();
  for (const end of [() => second.stop(), () => second.kill()]) await end();
  const back = await started(stream, 'worker-1');
  await until('it is ready again', () => isReady(back));
  assert.deepEqual(assignments(back).at(-1), before[1].at(-1));
  assert.deepEqual(assignments(first), before[0], 'the other one has seen no rebalance');

  // The leader, too.
  await first.kill();
  const leader = await started(stream, 'worker-0');
  await until('it is ready again', () => isReady(leader));
  assert.deepEqual(assignments(leader).at(-1), before[0].at(-1));
  assert.equal(assignments(back).length, 1, 'the other one has seen no rebalance');
  await stream.feed(records.slice(records.length / 2));
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  await Promise.all([leader.stop(), back.stop()]);
});

kafkaTest('of two workers with one instance id the earlier one ends with the reason', async () => {
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const earlier = await started(stream, 'worker-0');
  await until('it is ready', () => isReady(earlier));
  const later = await started(stream, 'worker-0');
  assert.deepEqual(await earlier.ended, { code: 1, signal: null });
  const text =
    `Another worker of group ${stream.groupId} has joined with the instance id worker-0, and replaces this one: ` +
    'give each worker a KAFKA_GROUP_INSTANCE_ID of its own';
  assert.ok(earlier.said().includes(text), earlier.said());
  await until('the later one is ready', () => isReady(later));
  const records = waves(4, 10, PARTITIONS);
  await stream.feed(records);
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  await later.stop();
});
