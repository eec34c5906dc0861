import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addResidual,
  CalibrationColumns,
  calibrate,
  calibrateRobust,
  calibrationOfSums,
  deviationAt,
  NO_RESIDUALS,
  type ResidualPlaces,
} from '../../../../src/detection/calibration/calibration.ts';
import { residualPlaces } from '../../../../src/detection/calibration/cutoff-grid.ts';
import type { CalibrationMethod } from '../../../../src/detection/calibration/settings.ts';
import { fc } from '../../../fixture/fast-check.ts';

const RESIDUALS = [2, 4, Number.NaN, 4, 4, 5, 5, 7, 9];
/** Every residual has a full context; four steps of the horizon take turns. */
const PLACES: ResidualPlaces = { stepOf: (i) => i % 4, weightOf: () => 1 };

function sumsOf(residuals: readonly number[], method: CalibrationMethod = 'plain') {
  return residuals.reduce((sums, r, i) => addResidual(sums, r, i, { method, places: PLACES }), NO_RESIDUALS);
}

/** Normal noise without chance: the same in every run. */
function noise(length: number, deviation = 1): number[] {
  return Array.from({ length }, (_, i) => {
    const [u, v] = [((i + 1) * 0.6180339887) % 1, ((i + 1) * 0.7548776662) % 1];
    return deviation * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  });
}

test('mean and sample variance are those of the residuals that are there', () => {
  const expected = { samples: 8, mean: 5, variance: 32 / 7, growth: 0 };
  assert.deepEqual(calibrate(Float64Array.from(RESIDUALS)), expected);
});

test('running sums give what two passes give', () => {
  const { samples, mean, variance } = calibrationOfSums(sumsOf(RESIDUALS), 'plain');
  assert.equal(samples, 8);
  assert.ok(Math.abs(mean - 5) < 1e-14 && Math.abs(variance - 32 / 7) < 1e-14);
});

test('running sums keep their precision far from zero', () => {
  const far = RESIDUALS.map((residual) => residual + 1e9);
  const { variance } = calibrationOfSums(sumsOf(far), 'plain');
  assert.ok(Math.abs(variance - 32 / 7) < 1e-6);
});

test('nothing, or one residual, has no variance', () => {
  assert.equal(calibrate(new Float32Array(0)).variance, Number.NaN);
  assert.equal(calibrate(Float32Array.of(3)).variance, Number.NaN);
  for (const method of ['plain', 'robust'] as const) {
    assert.equal(calibrationOfSums(sumsOf([3]), method).variance, Number.NaN);
  }
  assert.equal(calibrateRobust(Float32Array.of(3), PLACES, { floor: 1 }).variance, Number.NaN);
});

test('a part of an array is calibrated alone', () => {
  const expected = { samples: 2, mean: 2, variance: 2, growth: 0 };
  assert.deepEqual(calibrate(Float32Array.of(100, 1, 3, 100), 1, 2), expected);
});

test('robust: without outliers the deviation is the sample deviation', () => {
  const residuals = Float32Array.from(noise(288));
  const robust = calibrateRobust(residuals, { ...PLACES, stepOf: () => 0 }, { floor: 0 });
  const plain = calibrate(residuals);
  assert.ok(Math.abs(robust.variance / plain.variance - 1) < 1e-6 && Math.abs(robust.mean - plain.mean) < 1e-6);
});

test('robust: one outlier of any size hardly moves the deviation', () => {
  for (const outlier of [100, 1e5, 1e30]) {
    const residuals = Float32Array.from(noise(288));
    const before = deviationAt(calibrateRobust(residuals, PLACES, { floor: 0 }), 0, 0);
    residuals[100] = outlier;
    const after = deviationAt(calibrateRobust(residuals, PLACES, { floor: 0 }), 0, 0);
    assert.ok(after < 1.15 * before, `${outlier}: ${before} became ${after}`);
  }
  const sums = sumsOf([...noise(288), 1e30, ...noise(10)], 'robust');
  assert.ok(deviationAt(calibrationOfSums(sums, 'robust'), 0, 0) < 1.3);
});

test('robust: a new noise level counts once it fills 5 percent of the residuals', () => {
  const deviationWith = (louder: number) => {
    const residuals = Float32Array.from([...noise(288 - louder), ...noise(louder, 10)]);
    return deviationAt(calibrateRobust(residuals, PLACES, { floor: 0 }), 0, 0);
  };
  assert.ok(deviationWith(60) > 3);
  assert.ok(deviationWith(288) > 8);
});

test('robust: the deviation follows the step of the horizon', () => {
  const residuals = Float32Array.from(noise(400), (r, i) => r * Math.sqrt(1 + 3 * (i % 4)));
  const calibration = calibrateRobust(residuals, PLACES, { floor: 0 });
  for (const step of [0, 1, 2, 3]) {
    const ratio = deviationAt(calibration, step, 0) / Math.sqrt(1 + 3 * step);
    assert.ok(ratio > 0.8 && ratio < 1.25, `step ${step}: ${ratio}`);
  }
});

test('robust: the growth of errors along a horizon counts for more where few horizons show it', () => {
  const growthOf = (horizons: number) => {
    const residuals = Float32Array.from(
      { length: 4 * horizons },
      (_, i) => (i % 8 < 4 ? 1 : -1) * Math.sqrt(1 + (i % 4)),
    );
    return calibrateRobust(residuals, PLACES, { floor: 0 }).growth;
  };
  // 99.5 % quantiles of Student's t with n degrees of freedom, and of the normal distribution.
  for (const [horizons, quantile] of [
    [8, 3.3554],
    [12, 3.0545],
    [60, 2.6603],
    [1_000, 2.5808],
  ]) {
    // A sample variance is of n - 1, and the mean of n samples has a variance of its own.
    const samples = (4 * horizons) / (4 * horizons - 1);
    const expected = (quantile / 2.5758) ** 2 * (1 + 1 / horizons) * samples;
    const growth = growthOf(horizons);
    assert.ok(Math.abs(growth / expected - 1) < 0.05, `${horizons} horizons: ${growth} in place of ${expected}`);
  }
});

test('robust: residuals of a forecast that had little to see weigh less', () => {
  const residuals = Float32Array.from([...noise(24, 10), ...noise(72)]);
  const weightOf = (i: number) => (i < 24 ? 1 / 16 : 1);
  const weighted = calibrateRobust(residuals, { stepOf: () => 0, weightOf }, { floor: 0 });
  const unweighted = calibrateRobust(residuals, { stepOf: () => 0, weightOf: () => 1 }, { floor: 0 });
  assert.ok(weighted.variance < 0.3 * unweighted.variance);
});

test('robust: quantiles are those of sorted residuals, also in columns that were used before', () => {
  const columns = new CalibrationColumns();
  const small = fc.float({ noNaN: true, min: -2, max: 2 });
  const residual = fc.oneof({ arbitrary: small, weight: 20 }, fc.constantFrom(-300, 40, 1, Number.NaN));
  fc.assert(
    fc.property(fc.array(residual, { minLength: 2, maxLength: 700 }), fc.nat(40), (values, offset) => {
      const places = residualPlaces(8, offset, { h: 4, stepSize: 4, context: 64 });
      const counted = values.flatMap((value, i) => (Number.isNaN(value) ? [] : { value, weight: places.weightOf(i) }));
      fc.pre(counted.length >= 2);
      const sorted = counted.map(({ value }) => value).sort((a, b) => a - b);
      const tail = Math.floor(sorted.length / 20);
      const [low, high] = [sorted[tail], sorted[sorted.length - 1 - tail]];
      const bound = 6 * Math.max((high - low) / 3.2897072539029435, 0.1);
      const [least, most] = [-1, 1].map((side) => Math.fround(low + (high - low) / 2 + side * bound));
      let [weight, total] = [0, 0];
      for (const one of counted) {
        weight += one.weight;
        total += one.weight * Math.min(most, Math.max(least, one.value));
      }
      const calibration = calibrateRobust(Float32Array.from(values), places, { floor: 0.1, columns });
      assert.equal(calibration.mean, total / weight);
      assert.deepEqual(calibration, calibrateRobust(Float32Array.from(values), places, { floor: 0.1 }));
    }),
  );
});

test('robust: every step of the horizon has a positive variance, whatever the residuals', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }), {
        minLength: 8,
        maxLength: 60,
      }),
      (values) => {
        const residuals = Float32Array.from(values);
        const calibration = calibrateRobust(residuals, PLACES, { floor: 1e-9 });
        const spread = Math.max(...residuals) - Math.min(...residuals);
        for (const step of [0, 1, 2, 3]) {
          const deviation = deviationAt(calibration, step, 1e-9);
          assert.ok(deviation >= 1e-9 && deviation < Number.POSITIVE_INFINITY, `${deviation} at ${step}`);
          if (spread === 0) assert.equal(deviation, 1e-9);
        }
      },
    ),
  );
});
