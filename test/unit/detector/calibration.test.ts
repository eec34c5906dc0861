import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addResidual, calibrate, calibrationOfSums, NO_RESIDUALS } from '../../../src/detector/calibration.ts';

const RESIDUALS = [2, 4, Number.NaN, 4, 4, 5, 5, 7, 9];

test('mean and sample deviation are those of the residuals that are there', () => {
  assert.deepEqual(calibrate(Float64Array.from(RESIDUALS)), { samples: 8, mean: 5, deviation: Math.sqrt(32 / 7) });
});

test('running sums give what two passes give', () => {
  const sums = RESIDUALS.reduce(addResidual, NO_RESIDUALS);
  const { samples, mean, deviation } = calibrationOfSums(sums);
  assert.equal(samples, 8);
  assert.ok(Math.abs(mean - 5) < 1e-14 && Math.abs(deviation - Math.sqrt(32 / 7)) < 1e-14);
});

test('running sums keep their precision far from zero', () => {
  const far = RESIDUALS.map((residual) => residual + 1e9);
  const { deviation } = calibrationOfSums(far.reduce(addResidual, NO_RESIDUALS));
  assert.ok(Math.abs(deviation - Math.sqrt(32 / 7)) < 1e-6);
});

test('nothing, or one residual, has no deviation', () => {
  assert.equal(calibrate(new Float32Array(0)).deviation, Number.NaN);
  assert.equal(calibrate(Float32Array.of(3)).deviation, Number.NaN);
  assert.equal(calibrationOfSums(addResidual(NO_RESIDUALS, 3)).deviation, Number.NaN);
});

test('a part of an array is calibrated alone', () => {
  assert.deepEqual(calibrate(Float32Array.of(100, 1, 3, 100), 1, 2), { samples: 2, mean: 2, deviation: Math.SQRT2 });
});
