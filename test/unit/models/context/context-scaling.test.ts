import assert from 'node:assert/strict';
import test from 'node:test';
import { scaleContexts, unscaleForecasts } from '../../../../src/models/context/context-scaling.ts';

test('missing values become 0 and are masked, unless they are filled', () => {
  const values = Float32Array.of(1, Number.NaN, 3, 1, Number.NaN, Number.NaN, Number.NaN, 0, Number.NaN);
  const { observed, scales, infinite } = scaleContexts(values, 3);
  assert.deepEqual([...values], [1, 2, 3, 1, 0, 0, 0, 0, 0]);
  assert.deepEqual([...observed], [1, 1, 1, 1, 0, 0, 0, 1, 0]);
  assert.deepEqual([...scales], [1, 1, 1]);
  assert.deepEqual(infinite, []);
});

test('a row of ordinary values stays as it is', () => {
  const before = Float32Array.of(1e9, -0.001, 1.1);
  const values = before.slice();
  assert.equal(scaleContexts(values, 3).scales[0], 1);
  assert.deepEqual(values, before);
});

test('rows of huge and of tiny values are scaled to about 1, and their forecasts rescaled without rounding', () => {
  const before = Float32Array.of(3e38, 1e38, -1e-30, 3e-31, 1e-45, 0);
  const values = before.slice();
  const { scales } = scaleContexts(values, 2);
  for (const [row, magnitude] of [Math.abs(values[0]), Math.abs(values[2]), Math.abs(values[4])].entries()) {
    assert(magnitude >= 1 && magnitude < 2, `row ${row}: ${magnitude}`);
  }
  unscaleForecasts(values, scales);
  assert.deepEqual(values, before);
});

test('a forecast beyond float32 is clamped', () => {
  const { scales } = scaleContexts(Float32Array.of(3e38), 1);
  const forecasts = Float32Array.of(5, -5);
  unscaleForecasts(forecasts, scales);
  const largest = Math.fround(3.4028234663852886e38);
  assert.deepEqual([...forecasts], [largest, -largest]);
});

test('a row with an infinite value is reported', () => {
  const values = Float32Array.of(1, 2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1);
  assert.deepEqual(scaleContexts(values, 2).infinite, [1]);
});

test('numerical noise around a series that is constantly 0 becomes 0', () => {
  const { scales } = scaleContexts(Float32Array.of(0, 0, 1e-35, 1e-35), 2);
  const forecasts = Float32Array.of(1e-39, -5e-39, 1e-39, 1);
  unscaleForecasts(forecasts, scales);
  assert.deepEqual([...forecasts.slice(0, 3)], [0, 0, 0]);
  assert(forecasts[3] > 5e-36);
});
