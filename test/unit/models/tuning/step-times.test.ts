import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepTimes, workSteps } from '../../../../src/models/tuning/step-times.ts';

test('a tuning makes its steps and those of its trial', () => {
  assert.deepEqual([0, 2, 10, 40, 100].map(workSteps), [0, 4, 20, 50, 125]);
});

test('the time of a tuning is known from earlier ones of its model and depth, the newest counting most', () => {
  const times = new StepTimes(() => 0);
  assert.equal(times.estimate('a', { steps: 10, depth: 1 }), null);
  times.note('a', { steps: 10, depth: 1 }, 2_000);
  assert.equal(times.estimate('a', { steps: 100, depth: 1 }), 12_500);
  assert.equal(times.estimate('a', { steps: 10, depth: 2 }), null);
  assert.equal(times.estimate('b', { steps: 10, depth: 1 }), null);
  times.note('a', { steps: 10, depth: 1 }, 6_000);
  assert.equal(times.estimate('a', { steps: 10, depth: 1 }), 4_000);
});

test('a measurement is forgotten after a while, since load changes', () => {
  const clock = { nowMs: 0 };
  const times = new StepTimes(() => clock.nowMs);
  times.note('a', { steps: 10, depth: 1 }, 1e9);
  clock.nowMs = 600_000;
  assert.equal(times.estimate('a', { steps: 10, depth: 1 }), null);
});

test('the time at the least load there was is kept', () => {
  const clock = { nowMs: 0 };
  const times = new StepTimes(() => clock.nowMs);
  assert.equal(times.atBest('a', { steps: 10, depth: 1 }), null);
  for (const ms of [4_000, 2_000, 9_000]) times.note('a', { steps: 10, depth: 1 }, ms);
  clock.nowMs = 1e9;
  assert.equal(times.atBest('a', { steps: 100, depth: 1 }), 12_500);
});
