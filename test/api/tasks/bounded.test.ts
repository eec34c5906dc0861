/** What a body may cost: memory, time and the length of the refusal are bounded by what the request is used for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const app = await startApp();
const y = Array.from({ length: 60 }, (_, i) => 10 + Math.sin(i / 3) + ((i * 7919) % 13) / 20);
const FORECAST = { series: { y, sizes: [60] }, freq: 'D', h: 2 };
const TEXT = JSON.stringify(FORECAST);
const json = { ...AUTHORIZED, 'content-type': 'application/json' };

async function post(url: string, text: string) {
  const headers = { ...json, 'content-encoding': 'gzip' };
  const answer = await app.inject({ method: 'POST', url, headers, payload: gzipSync(text, { level: 1 }) });
  return { status: answer.statusCode, body: answer.json() };
}

test('a bomb of nested unknown objects is skipped, not built: it is answered like the request without it', async () => {
  const { body: plain } = await ask(app, '/v2/forecast', FORECAST);
  const objects = `[${'{},'.repeat(20_000_000)}{}]`;
  const { status, body } = await post('/v2/forecast', `${TEXT.slice(0, -1)},"z":${objects}}`);
  assert.deepEqual([status, body], [200, plain]);
});

test('a bomb in a known field is refused with no more problems than any other request', async () => {
  for (const field of ['y', 'sizes', 'X', 'start_datetime', 'categorical_exog'] as const) {
    const list = `[${'{},'.repeat(3_000_000)}{}]`;
    const { status, body } = await post('/v2/forecast', TEXT.replace('"series":{', `"series":{"${field}":${list},`));
    const repeated = field === 'sizes';
    assert.equal(status, repeated ? 200 : 422, `${field}: of equal names the last counts, where it is reached`);
    if (!repeated) assert.ok(body.detail.length <= 100, field);
  }
  const { status, body } = await post(
    '/v2/forecast',
    TEXT.replace(/"sizes":\[60\]/, `"sizes":[${'{},'.repeat(2e6)}1]`),
  );
  assert.deepEqual([status, body.detail.length], [422, 100]);
});

test('more variables than a request may have are refused once, not column by column', async () => {
  const columns = `[${'[],'.repeat(500_000)}[]]`;
  const { status, body } = await post('/v2/forecast', TEXT.replace('"series":{', `"series":{"X":${columns},`));
  assert.deepEqual([status, body.detail.map(({ loc }: { loc: unknown }) => loc)], [422, [['body', 'series', 'X']]]);
});

test('a list of problems is bounded, also of those that no schema finds', async () => {
  const X = Array.from({ length: 1_000 }, () => ['text']);
  const { status, body } = await ask(app, '/v2/forecast', { ...FORECAST, series: { ...FORECAST.series, X } });
  assert.deepEqual([status, body.detail.length], [422, 100]);
});

test('n_windows is bounded before it is expanded: positions count as numbers of the answer', async () => {
  const long = { series: { y: Array.from({ length: 300_000 }, () => 0), sizes: [300_000] }, freq: 'D' };
  const body = { ...long, h: 100, n_windows: 260_000, step_size: 1 };
  const refused = await ask(app, '/v2/cross_validation', body);
  assert.equal(refused.status, 422);
  assert.match(refused.body.detail[0].msg, /the answer would have 52000000 numbers/);
});

test('h is refused by the passes of the model that it needs, whatever the size of the answer', async () => {
  const windows = { ...FORECAST, h: 3_000_000, n_windows: 1 };
  const asked = { ...FORECAST, h: 3_000_000, detection_size: 1, level: 99 };
  for (const [url, body] of [
    ['/v2/forecast', { ...FORECAST, h: 3_000_000 }],
    ['/v2/forecast/async', { ...FORECAST, h: 3_000_000 }],
    ['/v2/cross_validation', windows],
    ['/v2/online_anomaly_detection', asked],
  ] as const) {
    const { status, body: refused } = await ask(app, url, body);
    assert.equal(status, 422, url);
    const text = refused.detail.find(({ loc }: { loc: readonly string[] }) => loc[1] === 'h').msg;
    assert.match(text, /46875 passes of the model.* more than 1000; with this model h may be at most 64000/, url);
  }
  const { status, body } = await ask(app, '/v2/forecast', { ...FORECAST, h: 64_000 });
  assert.deepEqual([status, body.mean.length], [200, 64_000]);
  const y = Array.from({ length: 25_000 }, () => 1);
  const wide = { series: { y, sizes: y.map(() => 1) }, freq: 'D', h: 9_000 };
  const problems = (await ask(app, '/v2/forecast', wide)).body.detail.map(({ msg }: { msg: string }) => msg);
  assert.match(problems.join(), /3525000 forecasts would be needed \(each of h 9000 counts 141 times\)/);
});

test('1e300 is refused with its place; what clients send for infinity is taken', async () => {
  for (const huge of ['1e300', '-1e300', '1e400', '3.5e38']) {
    const { status, body } = await post('/v2/forecast', TEXT.replace('"y":[', `"y":[${huge},`));
    assert.equal(status, 422);
    assert.deepEqual([body.detail[0].loc, body.detail[0].type], [['body', 'series', 'y', 0], 'finite_number']);
  }
  const X = [[1e39, ...y.slice(1)]];
  const withVariable = await ask(app, '/v2/anomaly_detection', { series: { ...FORECAST.series, X }, freq: 'D' });
  assert.deepEqual([withVariable.status, withVariable.body.detail[0].loc], [422, ['body', 'series', 'X', 0, 0]]);
  const infinite = { ...FORECAST, series: { y: [3.4028235e38, -3.4028235e38, ...y.slice(2)], sizes: [60] } };
  assert.equal((await ask(app, '/v2/forecast', infinite)).status, 200);
});

test('a series of nulls alone has null forecasts and does not fail the others', async () => {
  const nulls = Array.from({ length: 60 }, () => null);
  const { body: alone } = await ask(app, '/v2/forecast', FORECAST);
  const both = { ...FORECAST, series: { y: [...nulls, ...y], sizes: [60, 60] } };
  const { status, body } = await ask(app, '/v2/forecast', both);
  assert.deepEqual([status, body.mean], [200, [null, null, ...alone.mean]]);
});

test('keys of intervals are taken from the field level, not from the first text that looks like it', async () => {
  const decoy =
    '"model_parameters":{"level":[80.00]},"other":"\\"level\\":[80.000]","level":[80.0],"nested":{"level":[80.0000]}';
  const { body } = await post('/v2/forecast', `${TEXT.slice(0, -1)},${decoy}}`);
  assert.deepEqual(Object.keys(body.intervals), ['lo-80.0', 'hi-80.0']);
  const last = await post('/v2/forecast', `${TEXT.slice(0, -1)},"level":[80.0],"level":[80]}`);
  assert.deepEqual(Object.keys(last.body.intervals), ['lo-80', 'hi-80']);
});

test('timeout_seconds 30.0 counts as 30, 30.5 is refused', async () => {
  const submitted = (seconds: string) =>
    post('/v2/forecast/async', `${TEXT.slice(0, -1)},"job_options":{"timeout_seconds":${seconds}}}`);
  assert.equal((await submitted('30.0')).status, 202);
  assert.equal((await submitted('30.5')).status, 422);
});

test('intervals of cross-validation from one sample are refused as those of a forecast are', async () => {
  const short = { series: { y: y.slice(0, 9), sizes: [9] }, freq: 'D', h: 2, n_windows: 2, step_size: 2 };
  assert.equal((await ask(app, '/v2/cross_validation', short)).status, 200);
  const { status, body } = await ask(app, '/v2/cross_validation', { ...short, level: [80] });
  assert.equal(status, 422);
  assert.match(body.detail[0].msg, /Minimum required 8 samples for computing prediction intervals/);
});

test('a body of nothing but problems is refused at the hundredth, and the rest of it is not read', async () => {
  const many = `{"series":{"y":[${'{},'.repeat(400_000)}1],"sizes":[1]},"freq":"D","h":2}`;
  const { status, body } = await post('/v2/forecast', many);
  assert.deepEqual([status, body.detail.length], [422, 100]);
  assert.deepEqual(body.detail[99].loc, ['body', 'series', 'y', 99]);
  const unread = `{"series":{"y":[${'{},'.repeat(100)}no JSON at all`;
  assert.equal((await post('/v2/forecast', unread)).status, 422);
});
