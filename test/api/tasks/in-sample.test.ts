import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { Check } from 'typebox/value';
import {
  HistoricForecastAnswer,
  InSampleDetectionAnswer,
} from '../../../src/api/wire/schema/tasks/in-sample-schema.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const wave = (length: number) => Array.from({ length }, (_, i) => 10 + Math.sin(i / 3) + ((i * 7919) % 13) / 20);
const a = wave(120);
a[100] = 60;
const b: (number | null)[] = wave(90);
b[50] = null;
const series = { y: [...a, ...b], sizes: [120, 90] };

test('in-sample detection answers every value of the request', async () => {
  const { status, body } = await ask(app, '/v2/anomaly_detection', { series, freq: 'h', model: 'timegpt-2.1' });
  assert.equal(status, 200);
  assert.equal(Check(InSampleDetectionAnswer, body), true);
  assert.deepEqual(body.sizes, [120, 90]);
  assert.deepEqual([body.mean.length, body.anomaly.length], [210, 210]);
  assert.deepEqual(Object.keys(body.intervals), ['lo-99', 'hi-99']);
  assert.equal(body.weights_x, null);
  assert.equal(body.anomaly[100], true);
  assert.equal(body.anomaly[170], false);
  assert.deepEqual([body.input_tokens, body.output_tokens], [210, 1050]);
  series.y.forEach((value, i) => {
    const outside = value !== null && (value < body.intervals['lo-99'][i] || value > body.intervals['hi-99'][i]);
    assert.equal(body.anomaly[i], outside, `${i}`);
  });
});

test('the half-width of an interval is z sample deviations of the residuals of its series', async () => {
  const { body } = await ask(app, '/v2/anomaly_detection', { series: { y: a, sizes: [120] }, freq: 'h', level: 90 });
  const residuals = a.map((value, i) => value - body.mean[i]);
  const mean = residuals.reduce((sum, residual) => sum + residual, 0) / 120;
  const deviation = Math.sqrt(residuals.reduce((sum, residual) => sum + (residual - mean) ** 2, 0) / 119);
  body.mean.forEach((centre: number, i: number) => {
    assert.ok(Math.abs(body.intervals['hi-90'][i] - (centre + 1.6448536 * deviation)) < 1e-6);
    assert.ok(Math.abs(body.intervals['lo-90'][i] - (centre - 1.6448536 * deviation)) < 1e-6);
  });
});

test('a constant series and one of a single value have no anomalies', async () => {
  const y = [...new Array(50).fill(7), 3];
  const { status, body } = await ask(app, '/v2/anomaly_detection', { series: { y, sizes: [50, 1] }, freq: 'D' });
  assert.equal(status, 200);
  assert.equal(body.mean[50], null);
  assert.equal(body.anomaly[50], false);
});

test('a historic forecast is deprecated, names its successor, and takes several levels of at least 10', async () => {
  const { status, headers, body } = await ask(app, '/v2/historic_forecast', { series, freq: 'h', level: [80, 90] });
  assert.equal(status, 200);
  assert.equal(Check(HistoricForecastAnswer, body), true);
  assert.match(String(headers.deprecation), /^@\d+$/);
  assert.equal(headers.link, '</v2/cross_validation>; rel="successor-version"');
  assert.deepEqual(Object.keys(body.intervals), ['lo-80', 'hi-80', 'lo-90', 'hi-90']);
  const low = await ask(app, '/v2/historic_forecast', { series, freq: 'h', level: [80, 9] });
  assert.equal(low.status, 422);
  assert.deepEqual(low.body.detail[0].loc, ['body', 'level', 1]);
});

test('a streamed answer is the same compressed or not', async () => {
  const y = Array.from({ length: 40_000 }, (_, i) => Math.fround(Math.sin(i / 7) + ((i * 31) % 17) / 9));
  const body = JSON.stringify({ series: { y, sizes: [25_000, 15_000] }, freq: 'h' });
  const plain = await ask(app, '/v2/anomaly_detection', body);
  assert.equal(plain.status, 200);
  assert.deepEqual(plain.body.sizes, [25_000, 15_000]);
  assert.deepEqual([plain.body.mean.length, plain.body.anomaly.length], [40_000, 40_000]);
  const headers = { ...AUTHORIZED, 'content-type': 'application/json', 'accept-encoding': 'zstd, gzip' };
  const zipped = await app.inject({ method: 'POST', url: '/v2/anomaly_detection', headers, payload: body });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.deepEqual(JSON.parse(gunzipSync(zipped.rawPayload).toString()), plain.body);
});
