import assert from 'node:assert/strict';
import test from 'node:test';
import { RunQueue } from '../../../src/models/run-queue.ts';
import { spreadRuns } from '../../../src/models/run-spread.ts';

/** What each thread runs, as rows and context length. */
function spread(requests: readonly (readonly [rows: number, contextLength: number])[], threads: number): string[][] {
  const queue = new RunQueue(1_000, () => 64);
  for (const [rows, contextLength] of requests) {
    const batch = { rows, contextLength, horizon: 1, values: new Float32Array() };
    queue.add({ key: String(contextLength), batch });
  }
  const loads = spreadRuns(queue, threads, 8);
  assert.equal(queue.rows, 0);
  return loads.map((runs) => {
    return runs.map((run) => `${run.reduce((sum, { rows }) => sum + rows, 0)} x ${run[0].request.batch.contextLength}`);
  });
}

test('runs of several context lengths take the threads equally long', () => {
  const check = [2, 2, 4, 2, 6, 4].map((rows, i) => [rows, [64, 112, 192, 256, 384, 512][i]] as const);
  assert.deepEqual(spread(check, 2), [
    ['6 x 384', '2 x 256', '2 x 112'],
    ['4 x 512', '4 x 192', '2 x 64'],
  ]);
});

test('rows of one context length are shared among the threads, but not cut too fine', () => {
  assert.deepEqual(spread([[40, 64]], 2), [['20 x 64'], ['20 x 64']]);
  assert.deepEqual(spread([[10, 64]], 2), [['8 x 64'], ['2 x 64']]);
  assert.deepEqual(spread([[6, 64]], 2), [['6 x 64'], []]);
  assert.deepEqual(spread([], 2), [[], []]);
});
