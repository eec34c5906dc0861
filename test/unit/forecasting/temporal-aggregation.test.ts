import assert from 'node:assert/strict';
import test from 'node:test';
import {
  aggregateBefore,
  aggregationLookback,
  backtestPlan,
  blendWeight,
  canAggregate,
  correctionOf,
  type TemporalAggregation,
} from '../../../src/forecasting/temporal-aggregation.ts';

const byFour: TemporalAggregation = { stride: 4, blocks: 3, day: 24 };
const numbers = (...values: number[]) => Float64Array.from(values);

test('blocks are means of the observed values, end at the cutoff, and are whole', () => {
  const values = [100, 0, 1, 2, 3, Number.NaN, 4, Number.NaN, 8, ...Array(4).fill(Number.NaN), 50];
  assert.deepEqual([...aggregateBefore(values, 13, byFour)], [1.5, 6, Number.NaN]);
  assert.deepEqual([...aggregateBefore(values, 9, byFour)], [1.5, 6]);
  assert.deepEqual([...aggregateBefore(values, 3, byFour)], []);
});

test('a correction starts at 0, is the block difference in the middle of a block, and is constant after the last', () => {
  const correction = correctionOf(new Float64Array(10).fill(5), numbers(9, 1, 7), byFour);
  //                     middle of the first block, 4 above .. of the second, 4 below .. of the third, 2 above
  const actual = [...correction].map((value) => value.toFixed(2));
  assert.deepEqual(actual, ['1.00', '3.00', '3.00', '1.00', '-1.00', '-3.00', '-3.25', '-1.75', '-0.25', '1.25']);
});

test('equal fine and aggregated forecasts give no correction', () => {
  const fine = numbers(1, 2, 3, 6, 5, 5, 5, 5);
  assert.deepEqual([...correctionOf(fine, numbers(3, 5), byFour)], Array(8).fill(0));
});

const backtest = (actual: number, fine: number, correction: number) => ({
  actual: [actual, actual],
  fine: numbers(fine, fine),
  correction: numbers(correction, correction),
});

test('the blend weight has the least error over all backtests', () => {
  assert.equal(blendWeight([backtest(10, 0, 10), backtest(7, 0, 8)]), 1);
  assert.equal(blendWeight([backtest(5, 0, 10), backtest(5, 0, 10)]), 0.5);
  assert.equal(blendWeight([backtest(-5, 0, 10), backtest(1, 0, 10)]), 0);
});

test('a relative gain below 2 % gives the weight 0', () => {
  assert.equal(blendWeight([backtest(100, 0, 1)]), 0);
  assert.equal(blendWeight([backtest(100, 0, 3)]), 1);
});

test('backtests without an observation or a forecast do not count; without any the weight is 0', () => {
  const missing = [backtest(Number.NaN, 0, 10), backtest(10, Number.NaN, 10), backtest(10, 0, Number.NaN)];
  assert.equal(blendWeight(missing), 0);
  assert.equal(blendWeight([...missing, backtest(10, 0, 10)]), 1);
});

test('backtests lie one horizon, one day and two days back, forecast at most a day, and do not overlap the forecast', () => {
  const hours = { stride: 12, blocks: 256, day: 288 };
  const weekAgo = { offset: 2016, context: 512 };
  assert.deepEqual(backtestPlan(24, 512, hours), { h: 24, offsets: [24, 288, 576], weekAgo });
  assert.deepEqual(backtestPlan(288, 512, hours), { h: 288, offsets: [288, 576], weekAgo });
  assert.deepEqual(backtestPlan(2000, 512, hours), { h: 288, offsets: [288, 576], weekAgo });
});

test('the backtest of a week ago stays within the lookback, and is left out where that is too short', () => {
  const halfHours = { stride: 2, blocks: 256, day: 48 };
  assert.deepEqual(backtestPlan(48, 512, halfHours).weekAgo, {
    offset: 336,
    context: aggregationLookback(halfHours, 512) - 336,
  });
  assert.equal(backtestPlan(48, 64, { ...halfHours, blocks: 64 }).weekAgo, null);
});

test('the lookback is the longer of the two contexts, at least two days, before the earliest backtest', () => {
  assert.equal(aggregationLookback({ ...byFour, blocks: 30 }, 10), 120 + 48);
  assert.equal(aggregationLookback({ ...byFour, blocks: 30 }, 140), 140 + 48);
  assert.equal(aggregationLookback(byFour, 10), 48 + 48);
});

test('horizons below two blocks, and histories below four days, are not blended', () => {
  assert.equal(canAggregate(96, 8, byFour), true);
  assert.equal(canAggregate(95, 8, byFour), false);
  assert.equal(canAggregate(96, 7, byFour), false);
});
