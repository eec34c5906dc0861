import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rollOut } from '../../../src/forecasting/autoregressive-roll-out.ts';
import { forecastCalibrated } from '../../../src/forecasting/calibrated-forecasts.ts';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { whiteNoise } from '../../fixture/stream/backtest.ts';
import { assertClose } from '../../fixture/stream/scored-stream.ts';

const H = 4;
const model = (await openCatalog({ modelsDir: null })).get('tsmodel-1');
const forecasters = await Forecasters.start([model], { threads: 1 });
after(() => forecasters.close());
const forecaster = rollOut(forecasters.forecasterFor(model.name, 1));

async function forecastsOf(histories: readonly (readonly number[])[], probabilities: readonly number[] = []) {
  const points = histories.map((values) => ({ values, cutoff: values.length }));
  return forecastCalibrated(points, { h: H, context: 512, probabilities }, { forecaster });
}

test('lines of 4 to 31 values are carried on, whatever their slope, with a missing value too', async () => {
  const slopes = [1, -2, 0.03, 1e6];
  const lines = slopes.flatMap((slope) =>
    [4, 5, 7, 16, 20, 31].map((n) => Array.from({ length: n }, (_, i) => 50 + slope * i)),
  );
  const made = await forecastsOf([...lines, [1, 2, Number.NaN, 4, 5]]);
  lines.forEach((line, i) => {
    for (let k = 0; k < H; k++) {
      const slope = line[1] - line[0];
      assertClose(made[i].mean[k], line.at(-1)! + (k + 1) * slope, 1e-3 * Math.abs(slope), `step ${k} after ${line}`);
    }
  });
  made.at(-1)!.mean.forEach((value, k) => {
    assertClose(value, 6 + k, 1e-3, `step ${k} after a gap`);
  });
});

test('on random walks of 3 to 30 values the error is at most 1.1 of that of the last value', async () => {
  for (let n = 3; n <= 30; n++) {
    const noise = whiteNoise(n);
    const walks = Array.from({ length: 200 }, () => {
      let value = 100;
      return Array.from({ length: n + H }, () => (value += noise()));
    });
    const made = await forecastsOf(walks.map((walk) => walk.slice(0, n)));
    const [ours, naive] = [
      made.map(({ mean }) => mean),
      walks.map((walk) => new Float64Array(H).fill(walk[n - 1])),
    ].map((forecasts) =>
      walks.flatMap((walk, i) => walk.slice(n).map((value, k) => Math.abs(value - forecasts[i][k]))),
    );
    const ratio = sum(ours) / sum(naive);
    assert.ok(ratio <= 1.1, `${ratio} at length ${n}`);
  }
});

test('a season of four that a short history repeats is forecast, and noise is not followed', async () => {
  const season = Array.from({ length: 14 }, (_, i) => [3, -3, 6, 0][i % 4]);
  const noise = whiteNoise(2);
  const noisy = Array.from({ length: 100 }, () => Array.from({ length: 12 }, () => noise()));
  const [seasonal, ...rest] = await forecastsOf([season, ...noisy]);
  assertClose(seasonal.mean[0], 6, 1, 'the third of a season');
  const size = sum(rest.map(({ mean }) => Math.abs(mean[0]))) / rest.length;
  const last = sum(noisy.map((values) => Math.abs(values.at(-1)!))) / noisy.length;
  assert.ok(size < 0.6 * last, `${size} after noise whose last value is ${last}`);
});

test('intervals around a line move with it and keep their order, at any scale', async () => {
  for (const scale of [1, 1e30, -1e-30]) {
    const [{ mean, quantiles }] = await forecastsOf([[1, 2, 3, 4, 5].map((value) => value * scale)], [0.1, 0.9]);
    mean.forEach((median, k) => {
      assert.ok(quantiles[0][k] <= median && median <= quantiles[1][k], `step ${k} at scale ${scale}`);
    });
  }
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
