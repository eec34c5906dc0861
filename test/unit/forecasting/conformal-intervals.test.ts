import assert from 'node:assert/strict';
import test from 'node:test';
import {
  calibratedDeviates,
  calibrationCutoffs,
  conformityScores,
} from '../../../src/forecasting/conformal-intervals.ts';
import { normalQuantile } from '../../../src/forecasting/normal-distribution.ts';
import { intervalBounds } from '../../../src/forecasting/quantiles.ts';
import { fc } from '../../fixture/fast-check.ts';
import { quantileForecaster } from '../../fixture/http/http-service.ts';

const bounds = (level: number) => Object.values(intervalBounds(level));
const scores = fc.array(fc.float({ min: 0, noNaN: true }), { maxLength: 60 }).map((of) => Float32Array.from(of).sort());

test('without scores the quantiles of the model are unchanged', () => {
  const wanted = [0.005, 0.1, 0.5, 0.9];
  assert.deepEqual(calibratedDeviates(wanted, new Float32Array(0), 5), wanted.map(normalQuantile));
});

test('intervals of any levels are strictly nested around the median, for any scores', () => {
  const levels = fc.uniqueArray(fc.integer({ min: 1, max: 99_999 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(scores, levels, fc.integer({ min: 8, max: 50 }), (of, wanted, h) => {
      const ascending = wanted.sort((a, b) => a - b).map((level) => level / 1000);
      const at = calibratedDeviates([0.5, ...ascending.flatMap(bounds)], of, h);
      assert.equal(at[0], 0);
      ascending.forEach((_, i) => {
        const [lo, hi] = at.slice(1 + 2 * i);
        const [innerLo, innerHi] = i === 0 ? [0, 0] : at.slice(2 * i - 1);
        assert.ok(lo < innerLo && hi > innerHi, `${ascending[i]}: ${lo} ${hi} in ${innerLo} ${innerHi}`);
      });
    }),
  );
});

test('many scores outweigh the model: scores half as large halve the intervals', () => {
  const ranks = Array.from({ length: 8 * 50 }, (_, i) => (i + 1) / (8 * 50 + 1));
  const of = Float32Array.from(ranks, (level) => normalQuantile((1 + level) / 2) / 2);
  for (const level of [50, 80, 95, 99, 99.99]) {
    const [lo, hi] = calibratedDeviates(bounds(level), of, 50);
    const own = normalQuantile((1 + level / 100) / 2);
    assert.ok(Math.abs(hi / own - (8 / 9 / 2 + 1 / 9)) < 1e-3, `${level}: ${hi} of ${own}`);
    assert.ok(Math.abs(lo + hi) < 1e-9);
  }
});

test('the fewer the scores, the smaller the correction', () => {
  const widths = [0, 1, 4, 8].map((folds) => calibratedDeviates([0.9], new Float32Array(folds * 10).fill(0.1), 10)[0]);
  const expected = widths.toSorted((a, b) => b - a);
  assert.deepEqual(widths, expected);
  assert.ok(widths[1] > 0.85 * normalQuantile(0.9) && widths[3] < 0.25 * normalQuantile(0.9));
});

test('an outlier widens the interval by a bounded amount', () => {
  const of = Float32Array.of(...new Array(63).fill(1), Number.POSITIVE_INFINITY);
  const [, hi] = calibratedDeviates(bounds(99.9), of, 8);
  assert.ok(hi < 6);
});

test('folds do not overlap, and fit with their contexts into three contexts', () => {
  fc.assert(
    fc.property(
      fc.nat(5_000),
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 16, max: 600 }),
      (cutoff, h, context) => {
        const folds = calibrationCutoffs(cutoff, { h, context });
        folds.forEach((fold, i) => {
          assert.ok((i === 0 ? cutoff : folds[i - 1]) - fold >= h);
          assert.ok(fold >= 16 && fold - context >= cutoff - 3 * context);
        });
      },
    ),
  );
});

test('scores are those of the observations before a point', async () => {
  const values = Float64Array.from({ length: 200 }, (_, i) => (i === 190 ? Number.NaN : 10 + Math.sin(i)));
  const settings = { h: 10, context: 64 };
  const points = [
    { values, cutoff: 190 },
    { values, cutoff: 200 },
  ];
  const of = await conformityScores(points, settings, { forecaster: quantileForecaster() });
  assert.deepEqual([of(0).length, of(1).length], [8 * 10, 8 * 10 - 1]);
  const later = values.slice().fill(1e6, 190);
  const [alone] = [
    await conformityScores([{ values: later, cutoff: 190 }], settings, { forecaster: quantileForecaster() }),
  ];
  assert.deepEqual(alone(0), of(0));
});
