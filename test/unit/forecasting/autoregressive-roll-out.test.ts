import assert from 'node:assert/strict';
import test from 'node:test';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import type { ForecastBatch } from '../../../src/forecasting/forecaster.ts';
import { quantileForecaster } from '../../fixture/http/http-service.ts';
import { arithmeticForecast } from '../../fixture/models/arithmetic-forecaster.ts';

const PASS = 8;
const values = Float32Array.from({ length: 32 }, (_, i) => (i < 20 ? Number.NaN : Math.sin(i)));
const batch = (horizon: number) => ({
  rows: 2,
  contextLength: 32,
  values: Float32Array.of(...values, ...values),
  horizon,
});

test('a horizon of one pass is forecast in one pass, unchanged', async () => {
  const forecaster = quantileForecaster(PASS);
  assert.deepEqual(await rollOut(forecaster).forecast(batch(8)), await forecaster.forecast(batch(8)));
});

test('medians become the context of the next pass', async () => {
  const medians = await rollOut(quantileForecaster(PASS)).forecast(batch(20));
  const context = [...values];
  while (context.length < 32 + 24) context.push(...arithmeticForecast(Float32Array.from(context), PASS));
  assert.deepEqual(Array.from(medians), [...context.slice(32, 52), ...context.slice(32, 52)]);
  const { levels, values: quantiles } = await rollOut(quantileForecaster(PASS)).forecastQuantiles(batch(20));
  const expected = Array.from({ length: 40 }, (_, i) => quantiles[i * levels.length + 1]);
  assert.deepEqual(Array.from(medians), expected);
});

test('a group member without observations has an empty context in later passes, too', async () => {
  const forecaster = quantileForecaster(PASS);
  const contexts: Float32Array[] = [];
  const recording = {
    ...forecaster,
    forecast(pass: ForecastBatch) {
      contexts.push(pass.values.slice(-pass.contextLength));
      return forecaster.forecast(pass);
    },
  };
  const empty = new Float32Array(32).fill(Number.NaN);
  await rollOut(recording).forecast({ ...batch(20), values: Float32Array.of(...values, ...empty), isGroup: true });
  assert.equal(contexts.length, 3);
  assert.ok(contexts.every((context) => context.every(Number.isNaN)));
});

test('intervals never get narrower from one pass to the next, and the median stays', async () => {
  const { levels, values: quantiles } = await rollOut(quantileForecaster(PASS)).forecastQuantiles(batch(20));
  const width = (step: number) => quantiles[step * levels.length + 2] - quantiles[step * levels.length];
  for (const start of [8, 16]) assert.ok(width(start) > width(start - 1), `${start}`);
  for (let i = 0; i < 40; i++) {
    const [lo, median, hi] = quantiles.subarray(i * 3, i * 3 + 3);
    assert.ok(lo < median && median < hi);
  }
});
