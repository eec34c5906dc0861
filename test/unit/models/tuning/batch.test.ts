import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBatch, scaleOf } from '../../../../src/models/tuning/batch.ts';
import type { TuningWindow } from '../../../../src/models/tuning/windows.ts';

const shape = { batch: 2, context: 4, horizon: 3 };
const fullContext = () => 4;

function filled(values: number[], window: Omit<TuningWindow, 'series'>, contextOf = fullContext) {
  const series = [Float64Array.from(values)];
  return fillBatch([{ series: 0, ...window }], { series, scales: series.map(scaleOf), shape, contextOf });
}

test('a window holds distances from the first value of its context, scaled near 1; empty rows have weight 0', () => {
  const { values, observed, target, weight, series } = filled([10, 12, 14, 18, 22], { cutoff: 3, end: 5 });
  assert.deepEqual([...values], [0, 0, 0.5, 1, 0, 0, 0, 0]);
  assert.deepEqual([...observed], [0, 1, 1, 1, 0, 0, 0, 0]);
  assert.deepEqual([...target], [2, 3, 0, 0, 0, 0]);
  assert.deepEqual([...weight], [1, 1, 0, 0, 0, 0]);
  const { deviation, magnitude } = scaleOf(Float64Array.of(10, 12, 14, 18, 22));
  assert.deepEqual([...series], [...Float32Array.of(10 / 4, deviation / 4, magnitude / 4), 1, 1, 1]);
});

test('missing values are masked in the context and have weight 0 in the target', () => {
  const { values, observed, target, weight } = filled([Number.NaN, 4, Number.NaN, 6, Number.NaN, 8], {
    cutoff: 4,
    end: 6,
  });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 1, 0, 1]);
  assert.deepEqual([...values.subarray(0, 4)], [0, 0, 0, 1]);
  assert.deepEqual([...weight.subarray(0, 3)], [0, 1, 0]);
  assert.deepEqual([...target.subarray(0, 3)], [0, 2, 0]);
});

test('a context is no longer than that of the forecasts', () => {
  assert.deepEqual([...filled([1, 2, 3, 4, 5], { cutoff: 4, end: 5 }, () => 2).observed.subarray(0, 4)], [0, 0, 1, 1]);
});

test('windows without an observed context, and those of constant series, have weight 0', () => {
  assert.ok(filled([Number.NaN, Number.NaN, 3, 4], { cutoff: 2, end: 4 }).weight.every((one) => one === 0));
  assert.ok(filled([3, 3, 3, 3], { cutoff: 2, end: 4 }).weight.every((one) => one === 0));
});

test('counters far from 0 and huge values keep their digits', () => {
  const { values, target } = filled([1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3], { cutoff: 3, end: 4 });
  assert.deepEqual([...values.subarray(0, 4), target[0]], [0, 0, 0.5, 1, 1.5]);
  assert.ok(filled([1e300, -1e300, 1e300, 2e300], { cutoff: 3, end: 4 }).values.every(Number.isFinite));
});

test('an augmented window mixes two windows, shortens their contexts, and may be negated', () => {
  const augmentation = { contextShare: 0.5, mixCutoff: 3, mixWeight: 0.75, negated: true };
  const { values, observed, target, series } = filled([0, 1, 4, 9, 16, 25, 36], { cutoff: 5, end: 7, augmentation });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 0, 1, 1]);
  // Of 9, 16, 25, 36 and 1, 4, 9, 16 that is -7, -13, -21, -31.
  const unit = -7 / series[0];
  assert.ok(Number.isInteger(Math.log2(unit)));
  const distances = [...values.subarray(2, 4), ...target.subarray(0, 2)].map((value) => value * unit);
  assert.deepEqual(distances, [0, -6, -14, -24]);
});

test('a mixture is as long as the shorter context, and missing where either window is', () => {
  const augmentation = { contextShare: 1, mixCutoff: 2, mixWeight: 0.5, negated: false };
  const { observed, weight } = filled([1, 2, Number.NaN, 4, 5, 6, 7], { cutoff: 5, end: 7, augmentation });
  assert.deepEqual([...observed.subarray(0, 4)], [0, 0, 1, 1]);
  assert.deepEqual([...weight.subarray(0, 3)], [0, 1, 0]);
});
