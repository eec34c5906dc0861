import assert from 'node:assert/strict';
import test from 'node:test';
import {
  aggregateBefore,
  blendWeight,
  canAggregate,
  correctionOf,
  lookback,
  type TemporalAggregation,
  trialsOf,
} from '../../../src/forecast/temporal-aggregation.ts';

const byFour: TemporalAggregation = { stride: 4, blocks: 3, day: 24 };
const numbers = (...values: number[]) => Float64Array.from(values);

test('blocks end at the cutoff, are means of what was observed, and only whole ones count', () => {
  const values = [100, 0, 1, 2, 3, Number.NaN, 4, Number.NaN, 8, ...Array(4).fill(Number.NaN), 50];
  assert.deepEqual([...aggregateBefore(values, 13, byFour)], [1.5, 6, Number.NaN]);
  assert.deepEqual([...aggregateBefore(values, 9, byFour)], [1.5, 6]);
  assert.deepEqual([...aggregateBefore(values, 3, byFour)], []);
});

test('a correction begins at nothing, is whole in the middle of its block, and goes on as it ended', () => {
  const correction = correctionOf(new Float64Array(10).fill(5), numbers(9, 1, 7), byFour);
  //                     middle of the first block, 4 above .. of the second, 4 below .. of the third, 2 above
  assert.deepEqual(
    [...correction].map((value) => value.toFixed(2)),
    ['1.00', '3.00', '3.00', '1.00', '-1.00', '-3.00', '-3.25', '-1.75', '-0.25', '1.25'],
  );
});

test('blocks that say the same as single values correct nothing', () => {
  const single = numbers(1, 2, 3, 6, 5, 5, 5, 5);
  assert.deepEqual([...correctionOf(single, numbers(3, 5), byFour)], Array(8).fill(0));
});

const trial = (actual: number, single: number, correction: number) => ({
  actual: [actual, actual],
  single: numbers(single, single),
  correction: numbers(correction, correction),
});

test('the share is the one that would have served best over all trials', () => {
  assert.equal(blendWeight([trial(10, 0, 10), trial(7, 0, 8)]), 1);
  assert.equal(blendWeight([trial(5, 0, 10), trial(5, 0, 10)]), 0.5);
  assert.equal(blendWeight([trial(-5, 0, 10), trial(1, 0, 10)]), 0);
});

test('a gain of less than a fiftieth is chance', () => {
  assert.equal(blendWeight([trial(100, 0, 1)]), 0);
  assert.equal(blendWeight([trial(100, 0, 3)]), 1);
});

test('trials without an observation, or without a forecast, do not count; without any the share is 0', () => {
  const blind = [trial(Number.NaN, 0, 10), trial(10, Number.NaN, 10), trial(10, 0, Number.NaN)];
  assert.equal(blendWeight(blind), 0);
  assert.equal(blendWeight([...blind, trial(10, 0, 10)]), 1);
});

test('trials lie one horizon, one day and two days back, forecast a day at most, and overlap nothing to come', () => {
  const hours = { stride: 12, blocks: 256, day: 288 };
  const weekAgo = { offset: 2016, context: 512 };
  assert.deepEqual(trialsOf(24, 512, hours), { h: 24, offsets: [24, 288, 576], weekAgo });
  assert.deepEqual(trialsOf(288, 512, hours), { h: 288, offsets: [288, 576], weekAgo });
  assert.deepEqual(trialsOf(2000, 512, hours), { h: 288, offsets: [288, 576], weekAgo });
});

test('a week ago no more is seen than the forecast looks at, and nothing is tried where that is too little', () => {
  const halfHours = { stride: 2, blocks: 256, day: 48 };
  assert.deepEqual(trialsOf(48, 512, halfHours).weekAgo, { offset: 336, context: lookback(halfHours, 512) - 336 });
  assert.equal(trialsOf(48, 64, { ...halfHours, blocks: 64 }).weekAgo, null);
});

test('a forecast looks at the longer of the two contexts and at two days at least, from the earliest trial on', () => {
  assert.equal(lookback({ ...byFour, blocks: 30 }, 10), 120 + 48);
  assert.equal(lookback({ ...byFour, blocks: 30 }, 140), 140 + 48);
  assert.equal(lookback(byFour, 10), 48 + 48);
});

test('horizons below two blocks, and histories below four days, are left to single values', () => {
  assert.equal(canAggregate(96, 8, byFour), true);
  assert.equal(canAggregate(95, 8, byFour), false);
  assert.equal(canAggregate(96, 7, byFour), false);
});
