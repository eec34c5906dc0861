/** Cases that anybody would see at a glance, over HTTP, on the shipped model. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ask as post } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';
import { daily, startShippedModel, whiteNoise } from '../../fixture/stream/backtest.ts';

const { forecaster, close } = await startShippedModel();
const app = await startApp(forecaster);
after(async () => {
  await app.close();
  await close();
});

async function detect(series: readonly (readonly number[])[], options: object) {
  const { status, body } = await post(app, '/v2/online_anomaly_detection', {
    series: { y: series.flat(), sizes: series.map(({ length }) => length) },
    model: 'tsmodel-1',
    ...options,
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const DAILY = { freq: 'h', h: 24, detection_size: 24, level: 99, model_parameters: { calibration: 'robust' } };

/** Lengths whose first forecast sees 24, 32 and 16 values. */
const LENGTHS = { first24: 288, first32: 296, first16: 304 };

function cleanSine(length: number, seed: number): number[] {
  const noise = whiteNoise(seed);
  return Array.from({ length }, (_, i) => 10 * daily(i) + 0.5 * noise());
}

async function widthOf(length: number): Promise<number> {
  let sum = 0;
  for (const seed of [1, 2, 3]) {
    const { intervals } = await detect([cleanSine(length, seed)], DAILY);
    intervals['hi-99'].forEach((hi: number, k: number) => {
      sum += hi - intervals['lo-99'][k];
    });
  }
  return sum / (3 * DAILY.detection_size);
}

test('a first forecast that has seen 24 values of a clean sine does not widen the bands', async () => {
  const usual = await widthOf(LENGTHS.first32);
  for (const length of [LENGTHS.first24, LENGTHS.first16]) {
    const width = await widthOf(length);
    assert.ok(width < 1.1 * usual, `${width} at length ${length}, usually ${usual}`);
  }
});

test('8 of 10 spikes of four sigma are found, whatever the first forecast has seen', async () => {
  for (const length of [LENGTHS.first24, LENGTHS.first16]) {
    let found = 0;
    for (let seed = 30; seed < 40; seed++) {
      const values = cleanSine(length, seed);
      values[length - 10] += 4 * 0.5;
      const { anomaly } = await detect([values], DAILY);
      found += Number(anomaly[14]);
    }
    assert.ok(found >= 8, `${found} of 10 at length ${length}`);
  }
});

test('a group does not dilute what one member shows: a weekly sine with one spike', async () => {
  const series = [0, 1].map((phase) =>
    Array.from({ length: 100 }, (_, i) => 10 + 10 * Math.sin((2 * Math.PI * (i + phase)) / 7)),
  );
  series[0][95] += 3;
  for (const calibration of ['plain', 'robust']) {
    const settings = { freq: 'D', h: 20, detection_size: 20, model_parameters: { calibration } };
    const alone = await detect(series, settings);
    const together = await detect(series, { ...settings, threshold_method: 'multivariate' });
    assert.ok(alone.anomaly_score[15] > 2.576 && alone.anomaly[15]);
    assert.ok(together.accumulated_anomaly_score[15] > 2.33, `${together.accumulated_anomaly_score[15]}`);
    assert.deepEqual([together.anomaly[15], together.anomaly[35]], [true, true]);
  }
});

for (const calibration of ['plain', 'robust']) {
  test(`a flat history and a jump is flagged, with a finite score (${calibration})`, async () => {
    const flat = Array.from({ length: 200 }, () => 5);
    const series = [[...flat, 5, 5, 5, 25], flat.concat(5, 5, 5, 5)];
    const options = { freq: 'h', h: 4, detection_size: 4, level: 99, model_parameters: { calibration } };
    const { anomaly, anomaly_score: scores } = await detect(series, options);
    assert.deepEqual(anomaly, [false, false, false, true, false, false, false, false]);
    assert.ok(Number.isFinite(scores[3]) && scores[3] > 10, String(scores));
  });
}
