import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';
import { groupForecaster, MEMBERS_MAX } from '../../fixture/models/group-forecaster.ts';

/** Longer than the forecaster's context of 64. */
const LENGTH = 100;
const wave = (phase: number) => Array.from({ length: LENGTH }, (_, i) => Math.fround(10 + Math.sin((i + phase) / 3)));
const a = wave(0);
const b = wave(20);
const app = await startApp(groupForecaster());
const post = async (url: string, body: object) => {
  const { status, body: answer, headers } = await ask(app, url, { freq: 'D', h: 2, ...body });
  assert.equal(status, 200, JSON.stringify(answer));
  return { ...answer, headers };
};
const forecast = (values: number[][], body: object = {}, starts?: string[]) => {
  const series = { y: values.flat(), sizes: values.map(({ length }) => length), start_datetime: starts };
  return post('/v2/forecast', { series, multivariate: true, ...body });
};

/** By how much group context raises the first step of each series. */
async function raised(values: number[][], starts?: string[]): Promise<number[]> {
  const together = await forecast(values, {}, starts);
  const alone = await forecast(values, { multivariate: false }, starts);
  return values.map((_, i) => (together.mean[2 * i] - alone.mean[2 * i]) / 100);
}

const near = (actual: number[], expected: number[]) => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) => {
    assert.ok(Math.abs(value - expected[i]) < 1e-4, `${actual} is not near ${expected}`);
  });
};
/** What a member shows last, as a distance from the first value it shows. */
const shown = (values: number[], end: number) => values[end - 1] - values[Math.max(0, end - 64)];

test('multivariate forecasts use the contexts of other members; univariate ones do not', async () => {
  near(await raised([a, b]), [shown(b, LENGTH), shown(a, LENGTH)]);
  const alone = await forecast([a], { multivariate: false });
  const together = await forecast([a, b], { multivariate: false });
  assert.deepEqual(together.mean.slice(0, 2), alone.mean);
});

test('start times align members: no value at or after the cutoff is used', async () => {
  // b begins ten days before a, so it ends ten days before a: at a's end it shows nothing any more, at b's own end a is
  // ten days from its end.
  const starts = ['2026-01-11', '2026-01-01'];
  // Of a is seen what a client would have sent: the last 64 values, less the ten that came later.
  near(await raised([a, b], starts), [0, a[LENGTH - 11] - a[LENGTH - 64]]);
  const later = a.with(LENGTH - 5, 1e6);
  const changed = await forecast([later, b], {}, starts);
  const before = await forecast([a, b], {}, starts);
  assert.deepEqual(changed.mean.slice(2), before.mean.slice(2));
});

test('truncation to the input size does not change multivariate forecasts, also with different ends', async () => {
  const whole = await forecast([a, b], {}, ['2026-01-11', '2026-01-01']);
  const cut = await forecast([a.slice(-64), b.slice(-64)], {}, ['2026-02-16', '2026-02-06']);
  assert.deepEqual(cut.mean, whole.mean);
});

test('a window of cross-validation uses values of other members before its cutoff', async () => {
  const series = { y: [...a, ...b], sizes: [LENGTH, LENGTH] };
  const ask = (multivariate: boolean) =>
    post('/v2/cross_validation', { series, n_windows: 2, step_size: 7, multivariate });
  const [together, alone] = [await ask(true), await ask(false)];
  const cutoffs = [LENGTH - 9, LENGTH - 2];
  near(
    [0, 2, 4, 6].map((i) => (together.mean[i] - alone.mean[i]) / 100),
    [...cutoffs.map((end) => shown(b, end)), ...cutoffs.map((end) => shown(a, end))],
  );
});

test('online detection uses multivariate forecasts', async () => {
  const series = { y: [...a, ...b], sizes: [LENGTH, LENGTH] };
  const ask = (multivariate: boolean) =>
    post('/v2/online_anomaly_detection', { series, detection_size: 2, multivariate });
  const [together, alone] = [await ask(true), await ask(false)];
  // Here values are distances from the first of the whole series.
  const seen = (values: number[]) => values[LENGTH - 3] - values[0];
  near(
    [0, 2].map((i) => (together.mean[i] - alone.mean[i]) / 100),
    [seen(b), seen(a)],
  );
});

test('whole histories are forecast with group context, from values before each cutoff', async () => {
  const series = { y: [...a, ...b], sizes: [LENGTH, LENGTH] };
  const histories = async (url: string, values: object, fields: object = {}) => {
    const ask = async (multivariate: boolean) => (await post(url, { series: values, ...fields, multivariate })).mean;
    const [together, alone] = [await ask(true), await ask(false)];
    return together.map((mean: number, i: number) => (mean - alone[i]) / 100);
  };
  const raised = await histories('/v2/anomaly_detection', series);
  // The last segment is the horizon of days at the end.
  near([raised[LENGTH - 1], raised[2 * LENGTH - 1]], [shown(b, LENGTH - 7), shown(a, LENGTH - 7)]);
  const same = [
    await histories('/v2/historic_forecast', series),
    await histories('/v2/cross_validation', series, { full_history: true }),
  ];
  for (const other of same) assert.deepEqual(other, raised);
  const ends = {
    y: [...a, ...b.slice(0, -3)],
    sizes: [LENGTH, LENGTH - 3],
    start_datetime: ['2026-01-01', '2026-01-01'],
  };
  const [shorter] = [(await histories('/v2/anomaly_detection', ends)).slice(-1)];
  near(shorter, [shown(a, LENGTH - 10)]);
});

test('exogenous variables and group context combine', async () => {
  const X = [Array.from({ length: 2 * LENGTH }, (_, i) => i % 7)];
  const series = { y: [...a, ...b], sizes: [LENGTH, LENGTH], X, X_future: [[1, 2, 1, 2]] };
  const ask = (multivariate: boolean) => post('/v2/forecast', { series, multivariate });
  const [together, alone] = [await ask(true), await ask(false)];
  assert.notDeepEqual(together.mean, alone.mean);
});

test('a group is rolled out together beyond one pass of the model', async () => {
  const long = await forecast([a, b], { h: 80 });
  const short = await forecast([a, b], { h: 64 });
  assert.deepEqual(long.mean.slice(0, 64), short.mean.slice(0, 64));
});

test('too large groups and invalid times are reported at their fields', async () => {
  const sizes = new Array(MEMBERS_MAX + 1).fill(20);
  const crowd = { y: new Array(20 * sizes.length).fill(1), sizes };
  const refused = await ask(app, '/v2/forecast', { series: crowd, freq: 'D', h: 2, multivariate: true });
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.detail[0].loc, ['body', 'series', 'sizes']);
  const starts = { y: [...a, ...b], sizes: [LENGTH, LENGTH], start_datetime: ['2026-01-01', 'soon'] };
  const unread = await ask(app, '/v2/forecast', { series: starts, freq: 'D', h: 2, multivariate: true });
  assert.deepEqual(unread.body.detail[0].loc, ['body', 'series', 'start_datetime', 1]);
});

test('multivariate is ignored by univariate models', async () => {
  const single = await startApp();
  const series = { y: [...a, ...b], sizes: [LENGTH, LENGTH], start_datetime: ['soon', 'later'] };
  const together = await ask(single, '/v2/forecast', { series, freq: 'D', h: 2, multivariate: true });
  const alone = await ask(single, '/v2/forecast', { series, freq: 'D', h: 2 });
  assert.deepEqual(together.body, alone.body);
});

test('a horizon beyond that of the model is forecast with a warning', async () => {
  assert.equal((await forecast([a], { h: 7 })).headers.warning, undefined);
  const { headers, mean } = await forecast([a], { h: 8 });
  assert.equal(mean.length, 8);
  assert.match(String(headers.warning), /^299 tidewatch "h 8 is beyond the horizon of the model .* \(7\)/);
});
