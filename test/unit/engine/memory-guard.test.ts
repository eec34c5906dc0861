import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryGuard } from '../../../src/engine/memory-guard.ts';
import { observationRecord, streamRun } from '../../fixture/stream/stream-run.ts';

const MIB = 1024 * 1024;

test('memory counts as exceeded above the limit, and until it is clearly below it', () => {
  let [usedBytes, nowMs] = [90, 0];
  const guard = new MemoryGuard({ bytesMax: 100, usedBytes: () => usedBytes, nowMs: () => nowMs });
  const after = (used: number) => {
    [usedBytes, nowMs] = [used, nowMs + 1_000];
    return guard.exceeded;
  };
  assert.deepEqual([90, 101, 97, 94, 99].map(after), [false, true, true, false, false]);
});

test('without a limit nothing is asked', () => {
  const usedBytes = () => assert.fail('it is asked');
  assert.equal(new MemoryGuard({ bytesMax: null, usedBytes, nowMs: () => 0 }).exceeded, false);
});

test('a worker beyond its memory limit pauses its partitions with the reason, and continues when memory is free', async () => {
  let usedBytes = 10 * MIB;
  const run = streamRun({ limits: { memoryMbMax: 100 } });
  const pauses: boolean[] = [];
  const worker = await run.start({ usedBytes: () => usedBytes }, { paused: (_, paused) => void pauses.push(paused) });
  const append = (step: number) => {
    run.broker.appendRecord(0, observationRecord('s', step, 1));
  };
  append(0);
  await run.settled();
  usedBytes = 101 * MIB;
  await sleep(300);
  append(1);
  while (pauses.length < 1) await sleep(1);
  assert.deepEqual(worker.notReady(), [
    'partitions are paused: the process holds 101 MiB of memory, MEMORY_MB_MAX is 100',
  ]);
  append(2);
  await sleep(600);
  assert.ok(run.scores().length <= 2, 'nothing is fetched');
  usedBytes = 10 * MIB;
  await run.settled();
  assert.deepEqual(pauses, [true, false]);
  await worker.stop();
});
