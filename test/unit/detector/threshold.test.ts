import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOutside, oneSidedThreshold, standardScore, twoSidedThreshold } from '../../../src/detector/threshold.ts';

const NORMAL = { samples: 100, mean: 1, deviation: 2 };

test('a score is the distance from the mean in deviations', () => {
  assert.equal(standardScore(5, NORMAL), 2);
});

test('without a residual or a usable deviation there is no score', () => {
  assert.equal(standardScore(Number.NaN, NORMAL), Number.NaN);
  for (const deviation of [0, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(standardScore(5, { ...NORMAL, deviation }), Number.NaN, String(deviation));
  }
});

test('an anomaly lies strictly outside of the interval', () => {
  assert.equal(isOutside(4, 2, 2), false);
  assert.equal(isOutside(-4.001, 2, 2), true);
  assert.equal(isOutside(Number.NaN, 2, 2), false);
  assert.equal(isOutside(1, 2, 0), false);
});

test('a level of 95 percent leaves 2.5 percent on either side, or 5 on one', () => {
  assert.ok(Math.abs(twoSidedThreshold(95) - 1.959963984540054) < 1e-14);
  assert.ok(Math.abs(oneSidedThreshold(95) - 1.6448536269514722) < 1e-14);
  assert.equal(twoSidedThreshold(0), 0);
});

test('a case that the compatible API answered comes out the same, as far as its digits go', () => {
  const calibration = { samples: 100, mean: 0.00020959, deviation: 0.00331374 };
  const residual = 0.606017 - 0.544625;
  assert.ok(Math.abs(standardScore(residual, calibration) - 18.463266) < 1e-3);
  const halfWidth = twoSidedThreshold(99) * calibration.deviation;
  assert.ok(Math.abs(0.544625 - halfWidth - 0.53609) < 1e-6);
  assert.ok(Math.abs(0.544625 + halfWidth - 0.553161) < 1e-6);
  assert.equal(isOutside(residual, twoSidedThreshold(99), calibration.deviation), true);
});
