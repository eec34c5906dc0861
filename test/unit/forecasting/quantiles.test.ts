import assert from 'node:assert/strict';
import test from 'node:test';
import { normalQuantile } from '../../../src/forecasting/normal-distribution.ts';
import { deviateFunction, intervalBounds, quantileFunction } from '../../../src/forecasting/quantiles.ts';
import { fc } from '../../fixture/fast-check.ts';

const LEVELS = [0.05, 0.2, 0.5, 0.8, 0.95];

test('quantiles of a normal distribution are interpolated and extrapolated', () => {
  const values = Float32Array.from(LEVELS, (level) => 100 + 10 * normalQuantile(level));
  const wanted = [0.001, 0.05, 0.3, 0.5, 0.7, 0.95, 0.9995];
  const at = quantileFunction(LEVELS, wanted.map(normalQuantile));
  wanted.forEach((probability, i) => {
    assert.ok(Math.abs(at(values, 0, i, 0) - (100 + 10 * normalQuantile(probability))) < 1e-3, `${probability}`);
  });
  assert.equal(at(values, 0, 3, 0), 100);
});

test('intervals of any levels are strictly nested, also where quantiles of the model coincide', () => {
  const steps = fc.array(fc.float({ min: 0, max: 100, noNaN: true }), { minLength: 5, maxLength: 5 });
  const levels = fc.uniqueArray(fc.integer({ min: 1, max: 9999 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(fc.constantFrom(0, -3, 1e9), steps, fc.boolean(), levels, (origin, rises, flat, of) => {
      let value = 0;
      const values = Float32Array.from(rises, (rise) => (value = flat ? 0 : value + rise));
      const sorted = of.sort((a, b) => a - b).map((level) => intervalBounds(level / 100));
      const at = quantileFunction(
        LEVELS,
        sorted.flatMap(({ lo, hi }) => [normalQuantile(lo), normalQuantile(hi)]),
      );
      for (let i = 1; i < sorted.length; i++) {
        assert.ok(at(values, 0, 2 * i, origin) < at(values, 0, 2 * i - 2, origin));
        assert.ok(at(values, 0, 2 * i + 1, origin) > at(values, 0, 2 * i - 1, origin));
      }
    }),
    { examples: [[0, [0, 0, 0, 8, 0], false, [8344, 8345]]] },
  );
});

test('the deviate function inverts the quantile function', () => {
  const values = Float32Array.of(-7, -2, 0, 1, 10);
  const deviates = [-3, -1.2, -0.4, 0, 0.2, 1, 2.5];
  const at = quantileFunction(LEVELS, deviates);
  const inverse = deviateFunction(LEVELS);
  const found = deviates.map((_, i) => inverse(values, 0, at(values, 0, i, 0)));
  assert.ok(found.every((deviate, i) => Math.abs(deviate - deviates[i]) < 1e-6));
});

test('of equal quantiles the one nearest to the median counts, and values outside of equal outermost ones have infinite deviates', () => {
  const inverse = deviateFunction(LEVELS);
  assert.equal(inverse(Float32Array.of(0, 0, 3, 3, 3), 0, 0), normalQuantile(0.2));
  assert.equal(inverse(Float32Array.of(0, 0, 3, 3, 3), 0, 4), Number.POSITIVE_INFINITY);
  assert.equal(inverse(Float32Array.of(0, 0, 3, 3, 3), 0, 3), 0);
  assert.equal(inverse(Float32Array.of(0, 0, 3, 3, 3), 0, -1), Number.NEGATIVE_INFINITY);
  assert.ok(Number.isNaN(inverse(Float32Array.of(1, 1, 1, 1, 1), 0, Number.NaN)));
});
