import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundToBfloat16 } from '../../../../src/detection/calibration/bfloat16.ts';
import { calibrate } from '../../../../src/detection/calibration/calibration.ts';
import {
  floorOfRounded,
  judge,
  oneSidedThreshold,
  standardScore,
  twoSidedThreshold,
  type Yardstick,
} from '../../../../src/detection/calibration/threshold.ts';

const calibration = { samples: 100, mean: 1, variance: 4, growth: 0 };
const PLAIN: Yardstick = { method: 'plain', calibration, floor: 0 };

test('a score is the distance from the mean in deviations', () => {
  assert.equal(standardScore(5, 1, 2), 2);
});

test('without a residual or a usable deviation there is no score', () => {
  assert.equal(standardScore(Number.NaN, 1, 2), Number.NaN);
  for (const deviation of [0, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.equal(standardScore(5, 1, deviation), Number.NaN, String(deviation));
  }
});

test('an anomaly lies strictly outside of the interval', () => {
  const outside = (residual: number, threshold: number, yardstick: Yardstick) =>
    judge(residual, 0, threshold, yardstick).outside;
  assert.equal(outside(4, 2, PLAIN), false);
  assert.equal(outside(-4.001, 2, PLAIN), true);
  assert.equal(outside(Number.NaN, 2, PLAIN), false);
  assert.equal(outside(1, 2, { ...PLAIN, calibration: { ...calibration, variance: 0 } }), false);
});

test('robust: the interval is centred on the forecast plus the mean residual, so that score and flag agree', () => {
  const robust: Yardstick = { ...PLAIN, method: 'robust' };
  for (const residual of [-3.1, -2.9, 0, 1, 4.9, 5.1]) {
    const { score, lo, hi, outside } = judge(residual, 0, 2, robust);
    assert.deepEqual([lo, hi], [-3, 5]);
    assert.equal(outside, Math.abs(score) > 2, String(residual));
  }
});

test('the deviation is never below the floor of the series', () => {
  const flat = { ...PLAIN, calibration: { samples: 100, mean: 0, variance: 0, growth: 0 }, floor: 0.5 };
  assert.deepEqual(judge(9, 0, 2, flat), { score: 18, lo: -1, hi: 1, outside: true });
  assert.equal(judge(9, 0, 2, { ...PLAIN, floor: 0.5 }).score, judge(9, 0, 2, PLAIN).score);
});

test('the deviation grows along the horizon', () => {
  const growing = { ...PLAIN, calibration: { samples: 100, mean: 0, variance: 1, growth: 1 } };
  assert.equal(judge(6, 0, 2, growing).score, 6);
  assert.equal(judge(6, 3, 2, growing).score, 3);
});

test('a level of 95 percent leaves 2.5 percent on either side, or 5 on one', () => {
  assert.ok(Math.abs(twoSidedThreshold(95) - 1.959963984540054) < 1e-14);
  assert.ok(Math.abs(oneSidedThreshold(95) - 1.6448536269514722) < 1e-14);
  assert.equal(twoSidedThreshold(0), 0);
});

test('a case that the compatible API answered comes out the same, as far as its digits go', () => {
  const recorded = { samples: 100, mean: 0.00020959, variance: 0.00331374 ** 2, growth: 0 };
  const { score, lo, hi, outside } = judge(0.606017 - 0.544625, 0, twoSidedThreshold(99), {
    ...PLAIN,
    calibration: recorded,
  });
  assert.ok(Math.abs(score - 18.463266) < 1e-3);
  assert.ok(Math.abs(0.544625 + lo - 0.53609) < 1e-6);
  assert.ok(Math.abs(0.544625 + hi - 0.553161) < 1e-6);
  assert.equal(outside, true);
});

test('rounded residuals far from zero hide no deviation: a residual at their mean has a score of 1 at most', () => {
  for (const mean of [1e-12, 3.14, 1_003, -77_777, 1e30]) {
    const residuals = Float32Array.from({ length: 288 }, (_, i) => mean * (1 + 1e-6 * Math.sin(i)));
    const rounded = calibrate(residuals.map(roundToBfloat16));
    const yardstick: Yardstick = { method: 'robust', calibration: rounded, floor: floorOfRounded(0, rounded) };
    for (const residual of residuals) assert.ok(Math.abs(judge(residual, 0, 2, yardstick).score) <= 1.01);
  }
});

test('rounded residuals around zero keep the deviation that they have', () => {
  const residuals = Float32Array.from({ length: 288 }, (_, i) => Math.sin(7 * i));
  const [exact, rounded] = [calibrate(residuals), calibrate(residuals.map(roundToBfloat16))];
  assert.equal(floorOfRounded(0.01, rounded), 0.01);
  assert.ok(Math.abs(Math.sqrt(rounded.variance / exact.variance) - 1) < 1e-3);
});
