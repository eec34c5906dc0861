import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineReports } from '../../../src/engine/engine-reports.ts';
import type { StreamLog, SubscriptionHandlers } from '../../../src/engine/log/log.ts';
import { QUEUE_BYTES_MAX } from '../../../src/engine/partition-input.ts';
import { COMMIT_BYTES_MAX } from '../../../src/engine/strategy/partition-strategy.ts';
import type { Worker, WorkerReports } from '../../../src/engine/stream-worker.ts';
import { ServiceError } from '../../../src/ops/service-error.ts';
import { arithmeticForecaster } from '../../fixture/models/arithmetic-forecaster.ts';
import { type Fed, ignoredReports, lines, type StreamRun, streamRun } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

type Session = Awaited<ReturnType<StreamLog['openPartition']>>;

/** A log of the broker whose sessions are changed as they are opened. */
function logOf({ broker }: Pick<StreamRun, 'broker'>, changed: (session: Session) => Partial<Session>): StreamLog {
  const log = broker.openLog();
  const openPartition: StreamLog['openPartition'] = async (...given) => {
    const session = await log.openPartition(...given);
    return { ...session, ...changed(session) };
  };
  return { ...log, openPartition };
}

async function ready(...workers: Worker[]): Promise<void> {
  while (workers.some((worker) => worker.notReady().length > 0)) await sleep(1);
}

test('a worker that has joined reports the connection, although it was never lost', async () => {
  const said: (Error | null)[] = [];
  const connection: WorkerReports['connection'] = (error) => void said.push(error);
  const worker = await streamRun().start({ reports: { ...ignoredReports(), connection } });
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
  await ready(worker);
  stall(1, new Error('it has no leader'));
  assert.deepEqual(worker.notReady(), ['partition 1 makes no progress: it has no leader']);
  stall(1, null);
  assert.deepEqual(worker.notReady(), []);
  stall(1, new Error('it has no leader'));
  const other = await start();
  await ready(worker);
  await Promise.all([worker.stop(), other.stop()]);
});

test('readiness names a transaction that makes no progress, with the reason, until one succeeds', async () => {
  const { broker, start, settled, feed } = streamRun();
  const log = broker.openLog();
  const hold = Promise.withResolvers<void>();
  let retried: (error: Error) => void = () => assert.fail('no session');
  const openPartition: StreamLog['openPartition'] = async (partition, signal, onFailure) => {
    const session = await log.openPartition(partition, signal);
    retried = (error) => onFailure?.(error);
    return { ...session, commit: (...outputs) => hold.promise.then(() => session.commit(...outputs)) };
  };
  const reported: (string | null)[] = [];
  const stalled: EngineReports['stalled'] = (_partition, error) => void reported.push(error?.message ?? null);
  const worker = await start({ log: { ...log, openPartition } }, { stalled });
  await ready(worker);
  feed([['s', 0, 1]]);
  await until('it is not ready', () => worker.notReady().length > 0);
  const silent = 'its transaction has had no answer for 3 s';
  assert.deepEqual(worker.notReady(), [`partition 0 makes no progress: ${silent}`]);
  retried(new Error('Partition 0 of topic scores has no leader'));
  assert.deepEqual(worker.notReady(), ['partition 0 makes no progress: Partition 0 of topic scores has no leader']);
  hold.resolve();
  await settled();
  await ready(worker);
  assert.deepEqual(reported, [silent, null]);
  await worker.stop();
});

test('a worker ends when its topic gets more partitions, since series move away from their state', async () => {
  const { broker, start, scores, feed } = streamRun({ partitions: 2 });
  feed([['s', 0, 1]], 1);
  const log: StreamLog = { ...broker.openLog(), partitionCount: async () => 1 };
  const worker = await start({ log });
  const failure = await worker.finished;
  assert.match(failure!.message, /observations has more than 1 partitions now/);
  assert.deepEqual(scores(1), []);
  await worker.stop();
});

test('a worker refuses state that was made with another partition count', async () => {
  const { broker, start, scoreAll, feed } = streamRun();
  feed([['s', 0, 1]]);
  await scoreAll();
  const log: StreamLog = { ...broker.openLog(), partitionCount: async () => 2 };
  const worker = await start({ log });
  const failure = await worker.finished;
  assert.equal((failure as ServiceError).code, 'topic-mismatch');
  assert.match(failure!.message, /had 1 partitions when its series were learned and has 2 now/);
  await worker.stop();
});

test('a worker that is stopping ignores further assignments', async () => {
  const { broker, start } = streamRun();
  let opened = 0;
  const log = logOf({ broker }, ({ close }) => {
    opened++;
    return { close: () => sleep(20).then(close) };
  });
  const worker = await start({ log });
  await ready(worker);
  const stopped = worker.stop();
  broker.rebalance();
  await stopped;
  await sleep(1);
  assert.equal(opened, 1);
});

test('a worker that is stopped during a restore does not read the changelog to its end', async () => {
  const run = streamRun();
  const { promise: reading, resolve: onReading } = Promise.withResolvers<void>();
  const log = logOf(run, () => {
    const { promise: closed, reject } = Promise.withResolvers<never>();
    const readChangelog = () => {
      onReading();
      return closed;
    };
    const close = async () => reject(new ServiceError('broker-unavailable', 'The connection was closed on our side'));
    return { readChangelog, close };
  });
  const worker = await run.start({ log });
  await reading;
  const stopped = worker.stop().then(() => 'stopped');
  assert.equal(await Promise.race([stopped, sleep(30_000, 'still reading', { ref: false })]), 'stopped');
});

test('readiness names the reason why a restore failed, until it succeeds', async () => {
  const run = streamRun();
  let hangs = true;
  const log = logOf(run, (session) => ({
    async readChangelog(onRecord) {
      if (hangs) throw new ServiceError('broker-unavailable', 'A transaction hangs', { retryable: true });
      await session.readChangelog(onRecord);
    },
  }));
  const worker = await run.start({ log });
  const reason = 'partition 0 is being restored after a failure: A transaction hangs';
  while (worker.notReady()[0] !== reason) await sleep(1);
  hangs = false;
  await ready(worker);
  await worker.stop();
});

test('readiness names the reason why a partition cannot be taken over while that is tried again', async () => {
  const { broker, start } = streamRun();
  const log = broker.openLog();
  const { promise: possible, resolve: allow } = Promise.withResolvers<void>();
  const openPartition: StreamLog['openPartition'] = async (partition, signal, onFailure) => {
    onFailure?.(new Error('A coordinator is away'));
    await possible;
    return log.openPartition(partition, signal);
  };
  const worker = await start({ log: { ...log, openPartition } });
  await until('the reason is named', () =>
    worker.notReady().includes('partition 0 is being restored after a failure: A coordinator is away'),
  );
  allow();
  await ready(worker);
  await worker.stop();
});

test('the bytes of records bound transactions and queues, not only their number', async () => {
  const { broker, start, settled, deadLetters } = streamRun({ limits: { commitRecordsMax: 100_000 } });
  const large = Buffer.alloc(900_000, 'x');
  const count = 60;
  for (let i = 0; i < count; i++) broker.append(0, null, large);
  const commits: number[] = [];
  const pauses: boolean[] = [];
  const reports = {
    committed: (_: number, { records }: { records: number }) => void commits.push(records),
    paused: (_: number, paused: boolean) => void pauses.push(paused),
  };
  const worker = await start({}, reports);
  await settled();
  await worker.stop();
  assert.equal(deadLetters().length, count);
  assert.ok(Math.max(...commits) * large.length <= COMMIT_BYTES_MAX + large.length, `commits of ${commits} records`);
  assert.ok(count * large.length > QUEUE_BYTES_MAX);
  assert.deepEqual(pauses, [true, false]);
});

test('a task that was fenced by mistake opens a session again', async () => {
  const { broker, start, scores, feed } = streamRun();
  const retries: string[] = [];
  const worker = await start({}, { retrying: (_, error) => void retries.push((error as ServiceError).code) });
  await ready(worker);
  await broker.openLog().openPartition(0);
  feed([['s', 0, 1]]);
  while (scores().length < 1) await sleep(1);
  assert.deepEqual(retries, ['fenced']);
  await worker.stop();
});

test('a zombie fences nobody: it opens sessions only after the group has confirmed its partitions', async () => {
  const { broker, start, settled, scores, feed } = streamRun({ partitions: 2 });
  const opened: string[] = [];
  const retries: string[] = [];
  const begin = async (name: string) => {
    const log = broker.openLog();
    const openPartition: StreamLog['openPartition'] = (partition, signal) => {
      opened.push(`${name}${partition}`);
      return log.openPartition(partition, signal);
    };
    const retrying = (partition: number) => void retries.push(`${name}${partition}`);
    return start({ log: { ...log, openPartition } }, { retrying });
  };
  const append = () => {
    for (const partition of [0, 1]) {
      feed([[`s${partition}`, broker.read('observations', partition).length, 1]], partition);
    }
  };
  const zombie = await begin('zombie');
  await ready(zombie);
  const owner = await begin('owner');
  while (!opened.includes('owner1')) await sleep(1);
  await ready(zombie, owner);
  const learn = broker.expelOldest();
  while (!opened.includes('owner0')) await sleep(1);
  await ready(owner);
  append();
  await settled();
  while (!retries.includes('zombie0')) await sleep(1);
  // Longer than the first waits of a task that was fenced.
  await sleep(1_000);
  append();
  await settled();
  learn();
  while (opened.filter((session) => session.startsWith('zombie')).length < 3) await sleep(1);
  append();
  await settled();
  assert.deepEqual(opened, ['zombie0', 'zombie1', 'owner1', 'owner0', 'zombie1']);
  assert.ok(!retries.some((retry) => retry.startsWith('owner')), String(retries));
  assert.deepEqual([scores(0).length, scores(1).length], [3, 3]);
  await Promise.all([zombie.stop(), owner.stop()]);
});

test('a rolling restart of the workers restores each moved partition once, the others never', async () => {
  const partitions = 9;
  const { start, settled, scores, feed } = streamRun({ partitions });
  let step = 0;
  const append = () => {
    for (let partition = 0; partition < partitions; partition++) feed([[`s${partition}`, step, 1]], partition);
    step++;
  };
  const restores: number[] = [];
  let moves = 0;
  const begin = () => {
    let owned: readonly number[] = [];
    const assigned = (next: readonly number[]) => {
      moves += next.filter((partition) => !owned.includes(partition)).length;
      owned = next;
    };
    return start({}, { assigned, restored: (partition) => void restores.push(partition) });
  };
  const appended = async () => {
    await ready(...workers);
    append();
    await settled();
  };
  const workers = [await begin(), await begin(), await begin()];
  await appended();
  restores.length = 0;
  moves = 0;
  for (let turn = 0; turn < workers.length; turn++) {
    const leaving = workers.shift()!;
    append();
    await leaving.stop();
    await appended();
    workers.push(await begin());
    await appended();
  }
  assert.equal(restores.length, moves);
  // Each worker hands its three partitions over, and its successor takes three.
  assert.equal(moves, 3 * (3 + 3));
  for (let partition = 0; partition < partitions; partition++) {
    assert.deepEqual(lines(scores(partition), 'position'), [...Array(step).keys()].map(String));
  }
  await Promise.all(workers.map((worker) => worker.stop()));
});

test('a restore reads the changelog once', async () => {
  const run = streamRun();
  run.feed(Array.from({ length: 40 }, (_, step): Fed => ['s', step, step % 3]));
  await run.scoreAll();
  let reads = 0;
  const log = logOf(run, ({ readChangelog }) => ({
    readChangelog(...given) {
      reads++;
      return readChangelog(...given);
    },
  }));
  const second = await run.start({ log });
  await ready(second);
  await second.stop();
  assert.equal(reads, 1);
});

/**
 * A stream with a series whose next record waits for a forecast that is on its way, and is held. Before that comes a
 * record of another series, in the same answer of the broker or in one of its own.
 */
async function streamThatWaits({ together = false } = {}) {
  const forecaster = arithmeticForecaster();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let held = promise;
  let requested = 0;
  const holding: typeof forecaster = {
    ...forecaster,
    forecast(batch, signal) {
      requested++;
      return held.then(() => forecaster.forecast(batch, signal));
    },
  };
  // Long enough that the records below are scored before the next transaction is due.
  const commitIntervalMs = 200;
  const run = streamRun({ forecaster: holding, limits: { commitIntervalMs } });
  const append = (series: string, step: number) => run.feed([[series, step, step % 3]]);
  const worker = await run.start();
  let step = 0;
  for (; requested === 0; step++) {
    append('waits', step);
    await run.settled();
    // A forecast that nothing waits for is requested within it.
    await sleep(commitIntervalMs);
  }
  append('early', step);
  await run.settled();
  const other = run.broker.read('observations', 0).length;
  append('other', step);
  if (!together) await sleep(5);
  append('waits', step);
  const release = (error?: Error) => {
    held = Promise.resolve();
    if (error === undefined) resolve();
    else reject(error);
  };
  return { ...run, worker, other, release, expected: step + 3 };
}

/** The record of the other series is committed, and once the forecast is there, every record is scored once. */
async function everyRecordIsScored(waiting: Awaited<ReturnType<typeof streamThatWaits>>): Promise<void> {
  const { broker, worker, other, release, settled, scores, expected } = waiting;
  await until('the other series is committed', () => broker.committedOffset(0) === other + 1);
  assert.equal(scores().length, expected - 1);
  release();
  await settled();
  const offsets = lines(scores(), ({ input }) => input.offset);
  assert.deepEqual(offsets, [...Array(expected).keys()].map(String));
  await worker.stop();
}

test('a transaction that is due does not wait for records whose forecast is on its way', async () => {
  await everyRecordIsScored(await streamThatWaits());
});

test('records before one that waits for its forecast are committed, also those of one answer of the broker', async () => {
  await everyRecordIsScored(await streamThatWaits({ together: true }));
});

test('a forecast that fails while records wait for it is made again, and each record is scored once', async () => {
  const { worker, release, settled, scores, deadLetters, expected } = await streamThatWaits();
  release(new Error('the model failed once'));
  await settled();
  assert.equal(scores().length, expected);
  assert.deepEqual(deadLetters(), []);
  await worker.stop();
});
