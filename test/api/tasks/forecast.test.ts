import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/value';
import { CrossValidationAnswer, ForecastAnswer } from '../../../src/api/wire/schema/tasks/forecast-schema.ts';
import { ask, sender } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const wave = (length: number, phase = 0) =>
  Array.from({ length }, (_, i) => Math.fround(10 + Math.sin((i + phase) / 3) + ((i * 7919) % 13) / 20));
const a = wave(120);
const b = wave(90, 1);
const series = { y: [...a, ...b], sizes: [120, 90], X: null, X_future: null };
const forecast = (body: object) => ask(app, '/v2/forecast', { series, freq: 'h', h: 5, ...body });
const crossValidate = (body: object) => ask(app, '/v2/cross_validation', { series, freq: 'h', h: 5, ...body });

test('a forecast has h values per series', async () => {
  const { status, body } = await forecast({ model: 'timegpt-1', level: null });
  assert.equal(status, 200);
  assert.equal(Check(ForecastAnswer, body), true);
  assert.equal(body.mean.length, 10);
  assert.deepEqual([body.intervals, body.weights_x, body.feature_contributions], [null, null, null]);
  assert.deepEqual([body.input_tokens, body.output_tokens], [210, 10]);
  const alone = await forecast({ series: { y: b, sizes: [90] } });
  assert.deepEqual(alone.body.mean, body.mean.slice(5));
});

test('intervals of any levels are strictly nested and keep their literals', async () => {
  const { status, body } = await forecast({ level: [80, 60, 39, 20, 0, 20, 40, 60, 80, 99.99] });
  assert.equal(status, 200);
  assert.equal(Check(ForecastAnswer, body), true);
  const levels = [99.99, 80, 60, 40, 39, 20, 0];
  const bounds = [...levels.map((level) => `lo-${level}`), ...levels.toReversed().map((level) => `hi-${level}`)];
  assert.deepEqual(Object.keys(body.intervals).sort(), bounds.toSorted());
  body.mean.forEach((centre: number, k: number) => {
    const ascending = bounds.map((key) => body.intervals[key][k]);
    ascending.forEach((bound, i) => {
      if (i > 0 && i !== levels.length) assert.ok(bound > ascending[i - 1], `${bounds[i]} at ${k}`);
    });
    assert.equal(body.intervals['lo-0'][k], centre);
    assert.equal(body.intervals['hi-0'][k], centre);
  });
});

test('truncation to the input size, or three times it with intervals, does not change a forecast', async () => {
  const long = wave(600);
  for (const [h, level, kept] of [
    [5, null, 64],
    [5, [80], 3 * 64 + 24],
    [70, [80, 99], 3 * 64 + 70],
  ] as const) {
    const whole = await forecast({ series: { y: long, sizes: [600] }, h, level });
    const cut = await forecast({ series: { y: long.slice(-kept), sizes: [kept] }, h, level });
    assert.deepEqual(cut.body.mean, whole.body.mean);
    assert.deepEqual(cut.body.intervals, whole.body.intervals);
  }
});

test('intervals follow the backtest residuals; the forecast is unchanged', async () => {
  const noisy = wave(300).map((value, i) => value + 40 * Math.sin(i * i));
  const widths = [wave(300), noisy].map(async (y) => {
    const sent = { series: { y, sizes: [300] } };
    const [{ body }, alone] = await Promise.all([forecast({ ...sent, level: [80] }), forecast(sent)]);
    assert.deepEqual(body.mean, alone.body.mean);
    return body.intervals['hi-80'][0] - body.intervals['lo-80'][0];
  });
  const [calm, rough] = await Promise.all(widths);
  assert.ok(rough > 2 * calm);
});

test('sub-hourly forecasts use day and week, within the published input size', async () => {
  const query = { model: 'timegpt-1', freq: '30min' };
  const { input_size: size } = (await app.inject({ url: '/model_params', query, headers: AUTHORIZED })).json().detail;
  assert.equal(size, 64 * 2 + 2 * 48);
  const long = wave(600).map((value, i) => value + (Math.floor(i / 48) % 7 < 5 ? 5 : 0));
  const asked = (y: number[], rest: object = {}) => {
    return forecast({ series: { y, sizes: [y.length] }, freq: '30min', h: 48, level: [80], ...rest });
  };
  const whole = await asked(long);
  assert.deepEqual((await asked(long.slice(-size))).body, { ...whole.body, input_tokens: size });
  assert.notDeepEqual((await asked(long.slice(-64))).body.mean, whole.body.mean);
  const windows = { h: 48, n_windows: 3, step_size: 10, freq: '30min', level: [80] };
  const folds = await crossValidate({ series: { y: long, sizes: [600] }, ...windows });
  const kept = size + 48 + 2 * 10;
  const cut = await crossValidate({ series: { y: long.slice(-kept), sizes: [kept] }, ...windows });
  assert.deepEqual([cut.body.mean, cut.body.intervals], [folds.body.mean, folds.body.intervals]);
  const last = await asked(long.slice(0, -48));
  assert.deepEqual(folds.body.mean.slice(-48), last.body.mean);
  const together = await forecast({ series: { y: [...b, ...long], sizes: [90, 600] }, freq: '30min', h: 48 });
  assert.deepEqual(together.body.mean.slice(48), whole.body.mean);
});

test('a rolled-out horizon has intervals that never narrow', async () => {
  const { body } = await forecast({ series: { y: a, sizes: [120] }, h: 300, level: [90] });
  assert.equal(body.mean.length, 300);
  const width = (k: number) => body.intervals['hi-90'][k] - body.intervals['lo-90'][k];
  assert.ok(width(64) > width(63) && width(128) > width(127));
});

test('short series can be forecast without intervals only', async () => {
  const short = { y: [1, 2, 3], sizes: [3] };
  assert.equal((await forecast({ series: short })).status, 200);
  const { status, body } = await forecast({ series: short, level: [80] });
  assert.equal(status, 422);
  assert.match(body.detail[0].msg, /Minimum required.*samples for computing prediction intervals/);
});

test('an answer beyond the limits is refused before it is computed', async () => {
  const { status, body } = await forecast({ h: 100_000_000 });
  assert.equal(status, 422);
  assert.deepEqual(body.detail[0].loc, ['body', 'h']);
});

test('windows end with their series; rows are series-major, in time order, h per window', async () => {
  const { status, body } = await crossValidate({ n_windows: 3, step_size: 2, level: [80, 90.5] });
  assert.equal(status, 200);
  assert.equal(Check(CrossValidationAnswer, body), true);
  assert.deepEqual(body.sizes, [15, 15]);
  const window = (cutoff: number) => [0, 1, 2, 3, 4].map((k) => cutoff + k);
  assert.deepEqual(body.idxs, [111, 113, 115, 201, 203, 205].flatMap(window));
  assert.deepEqual(Object.keys(body.intervals).sort(), ['hi-80', 'hi-90.5', 'lo-80', 'lo-90.5']);
  assert.equal(body.intervals['lo-80'].length, 30);
  assert.equal(body.output_tokens, 60);
});

test('a window equals the forecast of the history before it', async () => {
  const { body } = await crossValidate({ n_windows: 4, level: [80] });
  const before = await forecast({ series: { y: a.slice(0, 105), sizes: [105] }, level: [80] });
  assert.deepEqual(body.mean.slice(5, 10), before.body.mean);
  assert.deepEqual(body.intervals['lo-80'].slice(5, 10), before.body.intervals['lo-80']);
});

test('a request without values before the first window is refused', async () => {
  const five = { y: wave(16), sizes: [16] };
  assert.equal((await crossValidate({ series: five, n_windows: 3 })).status, 200);
  const { status, body } = await crossValidate({ series: { y: wave(15), sizes: [15] }, n_windows: 3 });
  assert.equal(status, 422);
  assert.deepEqual(body.detail[0].loc, ['body', 'series', 'sizes', 0]);
});

test('clients 0.7.3 and 0.7.4 get the whole history, which they request as windows', async () => {
  // What they send for `add_history`, and a cross-validation of the same windows, by the headers of each client.
  const windows = { series, freq: 'h', h: 24, step_size: 24, n_windows: 1, hist_exog: null, finetune_steps: 0 };
  const history = { ...windows, feature_contributions: false };
  const sizesOf = async (body: object, headers: Record<string, string>) =>
    (await sender(app, { ...AUTHORIZED, ...headers })('POST', '/v2/cross_validation', body)).body.sizes;
  const client = { 'user-agent': 'python-httpx/0.28.1' };
  assert.deepEqual(await sizesOf(history, client), series.sizes);
  const inWindows = series.sizes.map(() => 24);
  assert.deepEqual(await sizesOf({ ...windows, refit: true }, client), inWindows);
  assert.deepEqual(await sizesOf(history, { ...client, 'nixtla-client-version': '0.9.0' }), inWindows);
  assert.deepEqual(await sizesOf(history, { 'user-agent': 'curl/8' }), inWindows);
});

test('full_history forecasts in-sample, whatever the windows', async () => {
  const { status, body } = await crossValidate({ full_history: true, h: 119, n_windows: 50, level: [80, 95] });
  assert.equal(status, 200);
  assert.equal(Check(CrossValidationAnswer, body), true);
  assert.deepEqual(body.sizes, [120, 90]);
  assert.deepEqual([body.mean.length, body.idxs.length, body.intervals['hi-95'].length], [210, 210, 210]);
});
