import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inSinglePrecision,
  PRECISION_STATE,
  precisionLost,
  recordPrecision,
  startPrecision,
} from '../../../../src/detection/calibration/precision.ts';

function lost(origin: number, values: readonly number[]): boolean {
  const state = new Float64Array(PRECISION_STATE.count);
  startPrecision(state, 0);
  for (const value of values) recordPrecision(state, 0, { value, origin, distance: Math.fround(value - origin) });
  return precisionLost(state, 0);
}

test('a window that varies less than float32 resolves at its distance from the origin is lost', () => {
  assert.equal(lost(2 ** 31 - 1, [20.1, 19.8, 20.4, 19.6]), true);
});

test('a window far from its origin keeps its values, however large they are', () => {
  assert.equal(lost(1e12, [1e12, 1e12 + 1, 1e12 - 2]), false);
  assert.equal(lost(20, [20.1, 19.8, 1e30]), false);
});

test('a flat window is not lost, however far away, and neither is an empty one', () => {
  assert.equal(lost(0, [500, 500, 500]), false);
  assert.equal(lost(0.1, [1e9, 1e9]), false);
  assert.equal(lost(0, [Number.NaN]), false);
});

test('a number is rounded to single precision where that holds it, and kept as it is where it does not', () => {
  for (const number of [0.1, -1 / 3, 1e30, 1e-30]) assert.equal(inSinglePrecision(number), Math.fround(number));
  for (const number of [0, 1e39, -1e300, 1e-39, 1e-300, Number.POSITIVE_INFINITY, Number.NaN]) {
    assert.equal(inSinglePrecision(number), number);
  }
});
