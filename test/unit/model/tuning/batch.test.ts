import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBatch, scaleOf } from '../../../../src/model/tuning/batch.ts';
import type { TuningWindow } from '../../../../src/model/tuning/windows.ts';

const shape = { batch: 2, context: 4, horizon: 3 };
const whole = () => 4;

function filled(values: number[], window: Omit<TuningWindow, 'series'>, contextOf = whole) {
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

test('a varied window is a blend of two, with the newest part of their contexts, and may be upside down', () => {
  const varied = { shown: 0.5, other: 3, share: 0.75, upsideDown: true };
  const { values, observed, target, series } = filled([0, 1, 4, 9, 16, 25, 36], { cutoff: 5, end: 7, varied });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 0, 1, 1]);
  // Of 9, 16, 25, 36 and 1, 4, 9, 16 that is -7, -13, -21, -31.
  const unit = -7 / series[0];
  assert.ok(Number.isInteger(Math.log2(unit)));
  const distances = [...values.subarray(2, 4), ...target.subarray(0, 2)].map((value) => value * unit);
  assert.deepEqual(distances, [0, -6, -14, -24]);
});

test('a blend reaches back as far as both of its windows do, and misses what either misses', () => {
  const varied = { shown: 1, other: 2, share: 0.5, upsideDown: false };
  const { observed, weight } = filled([1, 2, Number.NaN, 4, 5, 6, 7], { cutoff: 5, end: 7, varied });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 0, 1, 1]);
  assert.deepEqual([...weight.subarray(0, 3)], [0, 1, 0]);
});
