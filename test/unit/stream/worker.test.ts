import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamLog } from '../../../src/stream/log.ts';
import type { WorkerEvents } from '../../../src/stream/worker.ts';
import { observationRecord, streamEvents, streamRun } from '../../fixture/stream-run.ts';

test('a worker that has joined says that the log is in reach, without having lost it before', async () => {
  const said: (Error | null)[] = [];
  const connection: WorkerEvents['connection'] = (error) => void said.push(error);
  const worker = await streamRun().start({ events: { ...streamEvents(), connection } });
  assert.deepEqual(said, [null]);
  await worker.stop();
});

test('a worker ends when its topic grows under it, since series move to partitions that know nothing of them', async () => {
  const { broker, start, scores } = streamRun({ partitions: 2 });
  broker.append(1, Buffer.from('s'), observationRecord('s', 0, 1).value);
  const log: StreamLog = { ...broker.openLog(), partitionCount: async () => 1 };
  const worker = await start({ log });
  const failure = await worker.finished;
  assert.match(failure!.message, /observations has got more than 1 partitions/);
  assert.deepEqual(scores(1), []);
  await worker.stop();
});

test('a worker that is ending takes up no partition that the group gives it meanwhile', async () => {
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
