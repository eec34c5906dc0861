import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalQuantile } from '../../../src/forecasting/normal-distribution.ts';

/** From tables of the normal distribution; one at least in each of the three regions of the approximation. */
const QUANTILES: readonly (readonly [probability: number, quantile: number])[] = [
  [0.5, 0],
  [0.25, -0.6744897501960817],
  [0.9, 1.2815515655446004],
  [0.975, 1.959963984540054],
  [0.995, 2.5758293035489004],
  [0.9995, 3.2905267314919255],
  [1e-10, -6.361340902404056],
  [1e-20, -9.262340089798409],
];

test('quantiles of the standard normal have fourteen correct digits', () => {
  for (const [probability, quantile] of QUANTILES) {
    const error = Math.abs(normalQuantile(probability) - quantile);
    assert.ok(error <= 1e-14 * Math.max(1, Math.abs(quantile)), `${probability}: off by ${error}`);
  }
});

test('probabilities 0 and 1 give infinite quantiles', () => {
  assert.equal(normalQuantile(0), Number.NEGATIVE_INFINITY);
  assert.equal(normalQuantile(1), Number.POSITIVE_INFINITY);
});
