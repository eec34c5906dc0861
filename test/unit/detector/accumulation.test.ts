import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accumulate, calibrateAccumulation } from '../../../src/detector/accumulation.ts';
import { calibrate } from '../../../src/detector/calibration.ts';

test('the accumulated score is the cube root of the mean square over the members that have a score', () => {
  assert.equal(accumulate([2, -2]), Math.cbrt(4));
  assert.equal(accumulate([3, Number.NaN]), Math.cbrt(9));
  assert.equal(accumulate([]), Number.NaN);
  assert.equal(accumulate([Number.NaN]), Number.NaN);
});

test('the accumulation is calibrated on the time steps that calibrate its members', () => {
  const residuals = [Float32Array.of(1, -1, 3, -3), Float32Array.of(2, -2, Number.NaN, 0)];
  const calibrations = residuals.map((own) => calibrate(own));
  const z = (member: number, step: number) =>
    (residuals[member][step] - calibrations[member].mean) / calibrations[member].deviation;
  const steps = [0, 1, 3].map((step) => Math.cbrt((z(0, step) ** 2 + z(1, step) ** 2) / 2));
  const expected = calibrate(Float64Array.of(steps[0], steps[1], Math.cbrt(z(0, 2) ** 2), steps[2]));
  const { samples, mean, deviation } = calibrateAccumulation(residuals, calibrations);
  assert.equal(samples, 4);
  assert.ok(Math.abs(mean - expected.mean) < 1e-12 && Math.abs(deviation - expected.deviation) < 1e-12);
});

test('a member that never varied does not take part', () => {
  const residuals = [Float32Array.of(1, -1, 1), Float32Array.of(5, 5, 5)];
  const calibrations = residuals.map((own) => calibrate(own));
  assert.deepEqual(
    calibrateAccumulation(residuals, calibrations),
    calibrateAccumulation(residuals.slice(0, 1), calibrations.slice(0, 1)),
  );
});
