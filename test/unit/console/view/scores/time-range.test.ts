import assert from 'node:assert/strict';
import { test } from 'node:test';
import { following, panned, zoomed } from '../../../../../src/console/view/scores/time-range.ts';

const RANGE = { from: 0, to: 1_000_000 };

test('a zoom keeps the moment it is around where it is', () => {
  assert.deepEqual(zoomed(RANGE, 0.5, 250_000), { from: 125_000, to: 625_000 });
  assert.deepEqual(zoomed(RANGE, 2, 500_000), { from: -500_000, to: 1_500_000 });
});

test('a zoom ends where nothing could be seen', () => {
  const { from, to } = zoomed({ from: 0, to: 31_000 }, 0.001, 15_500);
  assert.equal(to - from, 30_000);
});

test('panning and following keep the length', () => {
  assert.deepEqual(panned(RANGE, -0.5), { from: -500_000, to: 500_000 });
  assert.deepEqual(following(RANGE, 7_000_000), { from: 6_000_000, to: 7_000_000 });
});
