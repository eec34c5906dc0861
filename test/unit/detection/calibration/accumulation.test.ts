import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accumulate,
  accumulatedScore,
  calibrateAccumulation,
  type MemberResiduals,
} from '../../../../src/detection/calibration/accumulation.ts';
import { calibrate } from '../../../../src/detection/calibration/calibration.ts';

/** Members calibrated on their own residuals, with one deviation for all steps. */
function membersOf(residuals: readonly Float32Array[], floor = 0): MemberResiduals[] {
  return residuals.map((own) => ({
    residuals: own,
    places: { stepOf: () => 0, weightOf: () => 1 },
    yardstick: { method: 'plain', calibration: calibrate(own), floor },
  }));
}

test('the accumulated score is the cube root of the mean square over the members that have a score', () => {
  assert.equal(accumulate([2, -2]), Math.cbrt(4));
  assert.equal(accumulate([3, Number.NaN]), Math.cbrt(9));
  assert.equal(accumulate([]), Number.NaN);
  assert.equal(accumulate([Number.NaN]), Number.NaN);
});

test('the accumulation is calibrated on the time steps that calibrate its members', () => {
  const residuals = [Float32Array.of(1, -1, 3, -3), Float32Array.of(2, -2, Number.NaN, 0)];
  const members = membersOf(residuals);
  const z = (member: number, step: number) => {
    const { mean, variance } = members[member].yardstick.calibration;
    return (residuals[member][step] - mean) / Math.sqrt(variance);
  };
  const steps = [0, 1, 3].map((step) => Math.cbrt((z(0, step) ** 2 + z(1, step) ** 2) / 2));
  const expected = calibrate(Float64Array.of(steps[0], steps[1], Math.cbrt(z(0, 2) ** 2), steps[2]));
  const { samples, mean, variance } = calibrateAccumulation(members);
  assert.equal(samples, 4);
  assert.ok(Math.abs(mean - expected.mean) < 1e-12 && Math.abs(variance - expected.variance) < 1e-12);
});

test('a member that never varied and has no floor does not take part', () => {
  const residuals = [Float32Array.of(1, -1, 1), Float32Array.of(5, 5, 5)];
  assert.deepEqual(
    calibrateAccumulation(membersOf(residuals)),
    calibrateAccumulation(membersOf(residuals.slice(0, 1))),
  );
});

test('a group does not dilute what one member shows', () => {
  const normal = { samples: 100, mean: 0.9, variance: 0.1, growth: 0 };
  const alone = accumulatedScore([6], normal);
  const among = accumulatedScore([6, ...Array(9).fill(0.1)], normal);
  assert.ok(among > 5 && alone > 5, `${alone} alone, ${among} among ten`);
  // Of ten normal members the largest is above 2.8 in one step of twenty: that is no score of 2.8.
  assert.ok(accumulatedScore([2.8, ...Array(9).fill(0.7)], normal) < 1.5);
});
