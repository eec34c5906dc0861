import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalQuantile } from '../../../../src/forecasting/normal-distribution.ts';
import {
  equiprobableValues,
  marginalProbabilities,
} from '../../../../src/forecasting/simulation/marginal-quantiles.ts';
import { fc } from '../../../fixture/fast-check.ts';

const between = fc.double({ min: 0, max: 1, minExcluded: true, maxExcluded: true, noNaN: true });

test('probabilities are those of the grid and the given ones, strictly increasing', () => {
  fc.assert(
    fc.property(fc.array(between, { maxLength: 200 }), (given) => {
      const deviates = marginalProbabilities(given).map(normalQuantile);
      assert.ok(deviates.every((deviate, i) => i === 0 || deviate > deviates[i - 1]));
      for (const probability of [0.01, 0.5, 0.99, ...given]) assert.ok(deviates.includes(normalQuantile(probability)));
    }),
  );
});

test('values of equal probability of a normal distribution are its own quantiles', () => {
  fc.assert(
    fc.property(fc.array(between, { maxLength: 20 }), fc.integer({ min: 1, max: 10_000 }), (given, count) => {
      const probabilities = marginalProbabilities(given);
      const values = equiprobableValues(probabilities, count)((i) => normalQuantile(probabilities[i]));
      assert.equal(values.length, count);
      values.forEach((value, i) => {
        assert.ok(Math.abs(value - normalQuantile((i + 0.5) / count)) < 1e-9, `${i} of ${count}`);
      });
    }),
    { numRuns: 30 },
  );
});
