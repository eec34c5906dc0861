import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../../src/service-error.ts';
import { COMMIT_BYTES_MAX, QUEUE_BYTES_MAX, RETRY_MS_MAX } from '../../../../src/stream/engine/partition-task.ts';
import type { WorkerEvents } from '../../../../src/stream/engine/stream-worker.ts';
import type { StreamLog, SubscriptionHandlers } from '../../../../src/stream/log/log.ts';
import { observationRecord, streamEvents, streamRun } from '../../../fixture/stream/stream-run.ts';

test('a worker that has joined reports the connection, although it was never lost', async () => {
  const said: (Error | null)[] = [];
  const connection: WorkerEvents['connection'] = (error) => void said.push(error);
  const worker = await streamRun().start({ events: { ...streamEvents(), connection } });
  assert.deepEqual(said, [null]);
  await worker.stop();
});

test('readiness names a partition that makes no progress, until it does or is revoked', async () => {
  const { broker, start } = streamRun({ partitions: 2 });
  const log = broker.openLog();
  let stall: SubscriptionHandlers['onStalled'] = () => assert.fail('not subscribed');
  const subscribe: StreamLog['subscribe'] = (handlers) => {
    stall = handlers.onStalled;
    return log.subscribe(handlers);
  };
  const worker = await start({ log: { ...log, subscribe } });
  while (worker.notReady().length > 0) await sleep(1);
  stall(1, new Error('it has no leader'));
  assert.deepEqual(worker.notReady(), ['partition 1 makes no progress: it has no leader']);
  stall(1, null);
  assert.deepEqual(worker.notReady(), []);
  stall(0, new Error('it has no leader'));
  broker.rebalance();
  while (worker.notReady().length > 0) await sleep(1);
  await worker.stop();
});

test('a worker ends when its topic gets more partitions, since series move away from their state', async () => {
  const { broker, start, scores } = streamRun({ partitions: 2 });
  broker.append(1, Buffer.from('s'), observationRecord('s', 0, 1).value);
  const log: StreamLog = { ...broker.openLog(), partitionCount: async () => 1 };
  const worker = await start({ log });
  const failure = await worker.finished;
  assert.match(failure!.message, /observations has got more than 1 partitions/);
  assert.deepEqual(scores(1), []);
  await worker.stop();
});

test('a worker refuses state that was made with another partition count', async () => {
  const { broker, start, settled } = streamRun();
  broker.append(0, Buffer.from('s'), observationRecord('s', 0, 1).value);
  const learns = await start();
  await settled();
  await learns.stop();
  const log: StreamLog = { ...broker.openLog(), partitionCount: async () => 2 };
  const worker = await start({ log });
  const failure = await worker.finished;
  assert.equal((failure as ServiceError).code, 'topic-mismatch');
  assert.match(failure!.message, /had 1 partitions when its series were learned and has 2 now/);
  await worker.stop();
});

test('a worker that is stopping ignores further assignments', async () => {
  const { broker, start } = streamRun();
  const log = broker.openLog();
  let opened = 0;
  const openPartition: StreamLog['openPartition'] = async (...partition) => {
    opened++;
    const session = await log.openPartition(...partition);
    return { ...session, close: () => sleep(20).then(session.close) };
  };
  const worker = await start({ log: { ...log, openPartition } });
  while (worker.notReady().length > 0) await sleep(1);
  const stopped = worker.stop();
  broker.rebalance();
  await stopped;
  await sleep(1);
  assert.equal(opened, 1);
});

test('a worker that is stopped during a restore does not read the changelog to its end', async () => {
  const { broker, start } = streamRun();
  const log = broker.openLog();
  const { promise: reading, resolve: onReading } = Promise.withResolvers<void>();
  const openPartition: StreamLog['openPartition'] = async (...partition) => {
    const session = await log.openPartition(...partition);
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const readChangelog = () => {
      onReading();
      return closed;
    };
    const close = async () => reject(new ServiceError('broker-unavailable', 'The connection was closed on our side'));
    return { ...session, readChangelog, close };
  };
  const worker = await start({ log: { ...log, openPartition } });
  await reading;
  const stopped = worker.stop().then(() => 'stopped');
  assert.equal(await Promise.race([stopped, sleep(2_000, 'still reading')]), 'stopped');
});

test('the bytes of records bound transactions and queues, not only their number', async () => {
  const { broker, start, settled, deadLetters } = streamRun({ limits: { commitRecordsMax: 100_000 } });
  const large = Buffer.alloc(900_000, 'x');
  const count = 60;
  for (let i = 0; i < count; i++) broker.append(0, null, large);
  const commits: number[] = [];
  const pauses: boolean[] = [];
  const events = {
    committed: (_: number, { records }: { records: number }) => void commits.push(records),
    paused: (_: number, paused: boolean) => void pauses.push(paused),
  };
  const worker = await start({}, events);
  await settled();
  await worker.stop();
  assert.equal(deadLetters().length, count);
  assert.ok(Math.max(...commits) * large.length <= COMMIT_BYTES_MAX + large.length, `commits of ${commits} records`);
  assert.ok(count * large.length > QUEUE_BYTES_MAX);
  assert.deepEqual(pauses, [true, false]);
});

test('a fenced task waits before it opens a session again, since the later owner is likely to be right', async () => {
  const { broker, start } = streamRun();
  const { promise: retrying, resolve: onRetrying } = Promise.withResolvers<{ code: string; delayMs: number }>();
  const worker = await start(
    {},
    { retrying: (_, error, delayMs) => onRetrying({ code: (error as ServiceError).code, delayMs }) },
  );
  while (worker.notReady().length > 0) await sleep(1);
  const later = await broker.openLog().openPartition(0);
  const { key, value } = observationRecord('s', 0, 1);
  broker.append(0, key, value);
  assert.deepEqual(await retrying, { code: 'fenced', delayMs: RETRY_MS_MAX });
  await later.commit([], 1);
  await worker.stop();
});
