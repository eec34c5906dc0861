import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countedValue,
  deviationFloor,
  RESOLUTION_STATE,
  recordResolution,
  startResolution,
} from '../../../../src/detection/calibration/resolution.ts';

function floorOf(values: readonly number[]): number {
  const state = new Float64Array(RESOLUTION_STATE.count);
  startResolution(state, 0);
  for (const value of values) recordResolution(state, 0, value);
  return deviationFloor(state, 0);
}

test('a series that never changed has a tiny floor, so that any change shows', () => {
  assert.equal(floorOf(Array(600).fill(0)), 1e-9);
  assert.equal(floorOf(Array(600).fill(20)), 20e-9);
  assert.equal(floorOf([]), 1e-9);
});

test('a few steps show the rounding of the values, not their own size', () => {
  assert.equal(floorOf([0, 0, 500, 0]), 0.5);
  assert.equal(floorOf([1, 1, 0.95, 1]), 0.005);
});

test('the smallest of eight steps or more is the resolution', () => {
  assert.equal(floorOf([0, 5, 0, 5, 0, 5, 0, 5, 0]), 2.5);
  assert.equal(floorOf([20, 21, 20, Number.NaN, 22, 21, 20, 21, 20, 21]), 0.5);
});

test('values that are not rounded have a floor far below their noise', () => {
  assert.ok(floorOf(Array.from({ length: 4 }, (_, i) => Math.sin(i))) <= 5e-10);
});

test('values that differ by the rounding of a sum are one value, and all others are two', () => {
  const state = new Float64Array(RESOLUTION_STATE.count);
  startResolution(state, 0);
  assert.equal(countedValue(state, 0, 0.1 + 0.2), 0.1 + 0.2);
  recordResolution(state, 0, 0.3);
  assert.equal(countedValue(state, 0, 0.1 + 0.2), 0.3);
  assert.equal(countedValue(state, 0, 0.3 + 1e-12), 0.3 + 1e-12);
  assert.ok(Number.isNaN(countedValue(state, 0, Number.NaN)));
  recordResolution(state, 0, 0);
  assert.equal(countedValue(state, 0, 5e-324), 5e-324);
  recordResolution(state, 0, 2 ** 53 - 2);
  assert.equal(countedValue(state, 0, 2 ** 53 - 1), 2 ** 53 - 1, 'bytes are whole numbers');
});
