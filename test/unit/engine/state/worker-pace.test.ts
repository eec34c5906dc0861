import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkerPace } from '../../../../src/engine/state/worker-pace.ts';

test('after so many forecasts the next ones wait until as many are allowed again', () => {
  const pace = new WorkerPace(100);
  assert.equal(pace.waitMs(1_000), 0);
  pace.reserve(1_000, 64);
  assert.deepEqual([pace.waitMs(1_000), pace.waitMs(1_600), pace.waitMs(2_000)], [640, 40, 0]);
});

test('a pause allows no more than a steady pace afterwards', () => {
  const pace = new WorkerPace(100);
  pace.reserve(0, 10);
  pace.reserve(60_000, 10);
  assert.equal(pace.waitMs(60_000), 100);
});
