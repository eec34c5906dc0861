import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBatch, scaleOf } from '../../../../src/model/tuning/batch.ts';

const shape = { batch: 2, context: 4, horizon: 3 };
const whole = () => 4;

function filled(values: number[], window: { cutoff: number; end: number }, contextOf = whole) {
  const series = [Float64Array.from(values)];
  return fillBatch([{ series: 0, ...window }], series, series.map(scaleOf), shape, contextOf);
}

test('a window is distances from the first value of its context, near 1; what no window fills has no weight', () => {
  const { values, observed, target, weight, series } = filled([10, 12, 14, 18, 22], { cutoff: 3, end: 5 });
  assert.deepEqual([...values], [0, 0, 0.5, 1, 0, 0, 0, 0]);
  assert.deepEqual([...observed], [0, 1, 1, 1, 0, 0, 0, 0]);
  assert.deepEqual([...target], [2, 3, 0, 0, 0, 0]);
  assert.deepEqual([...weight], [1, 1, 0, 0, 0, 0]);
  const { deviation, magnitude } = scaleOf(Float64Array.of(10, 12, 14, 18, 22));
  assert.deepEqual([...series], [...Float32Array.of(10 / 4, deviation / 4, magnitude / 4), 1, 1, 1]);
});

test('what was not observed is neither seen nor judged', () => {
  const { values, observed, target, weight } = filled([Number.NaN, 4, Number.NaN, 6, Number.NaN, 8], {
    cutoff: 4,
    end: 6,
  });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 1, 0, 1]);
  assert.deepEqual([...values.subarray(0, 4)], [0, 0, 0, 1]);
  assert.deepEqual([...weight.subarray(0, 3)], [0, 1, 0]);
  assert.deepEqual([...target.subarray(0, 3)], [0, 2, 0]);
});

test('a context is cut as the forecasts will cut it', () => {
  assert.deepEqual([...filled([1, 2, 3, 4, 5], { cutoff: 4, end: 5 }, () => 2).observed.subarray(0, 4)], [0, 0, 1, 1]);
});

test('windows that show nothing, or whose series never moves, have no weight', () => {
  assert.ok(filled([Number.NaN, Number.NaN, 3, 4], { cutoff: 2, end: 4 }).weight.every((one) => one === 0));
  assert.ok(filled([3, 3, 3, 3], { cutoff: 2, end: 4 }).weight.every((one) => one === 0));
});

test('counters far from 0 and huge values keep their digits', () => {
  const { values, target } = filled([1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3], { cutoff: 3, end: 4 });
  assert.deepEqual([...values.subarray(0, 4), target[0]], [0, 0, 0.5, 1, 1.5]);
  assert.ok(filled([1e300, -1e300, 1e300, 2e300], { cutoff: 3, end: 4 }).values.every(Number.isFinite));
});
