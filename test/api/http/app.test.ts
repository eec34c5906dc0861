import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { createLogger } from '../../../src/ops/logger.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, KEY, startApp } from '../../fixture/http/http-service.ts';
import { until } from '../../fixture/until.ts';

test('openapi.json names every operation once, and every reference leads to a component', async () => {
  const app = await startApp();
  const document = (await app.inject({ url: '/openapi.json' })).json();
  const operations = Object.values<Record<string, { operationId?: string }>>(document.paths).flatMap(Object.values);
  const ids = operations.map(({ operationId }) => operationId);
  assert.ok(ids.every((id) => typeof id === 'string' && /^[a-z]\w+$/i.test(id)));
  assert.equal(new Set(ids).size, ids.length);
  const used = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)];
  for (const [, kind, name] of used) assert.ok(document.components[kind][name], `${kind}/${name}`);
  const named = Object.keys(document.components.schemas).concat(Object.keys(document.components.responses));
  for (const name of named)
    assert.ok(
      used.some(([, , target]) => target === name),
      `${name} is used`,
    );
  assert.ok(document.servers.length > 0);
});

test('requests need a valid key, and the 401 body has every field that clients read', async () => {
  const app = await startApp();
  for (const authorization of [undefined, 'Bearer', 'Bearer wrong', `Basic ${KEY}`, KEY]) {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await app.inject({ url: '/validate_api_key', headers });
    assert.equal(answer.statusCode, 401);
    const { requestID, support, ...body } = answer.json();
    const said = { message: 'Invalid API key', details: 'Key not found', code: 'A12', detail: 'Invalid API key' };
    assert.deepEqual(body, { data: null, ...said });
    assert.equal(requestID, answer.headers['x-request-id']);
    assert.equal(typeof support, 'string');
  }
  const answer = await app.inject({ url: '/validate_api_key', headers: AUTHORIZED });
  assert.deepEqual([answer.statusCode, answer.json()], [200, { detail: 'Happy Forecasting! :)' }]);
});

test('the key is checked before the body is read', async () => {
  const app = await startApp();
  const headers = { 'content-type': 'application/json' };
  const answer = await app.inject({ method: 'POST', url: '/model_params', headers, payload: '{' });
  assert.equal(answer.statusCode, 401);
});

test('every error is JSON with detail', async () => {
  const app = await startApp();
  const json = { ...AUTHORIZED, 'content-type': 'application/json' };
  const cases = [
    [404, { url: '/nothing' }],
    [404, { method: 'POST', url: '/nothing', headers: json, payload: '{' }],
    [405, { method: 'DELETE', url: '/usage', headers: AUTHORIZED }],
    [405, { method: 'QUERY', url: '/usage', headers: AUTHORIZED }],
    [400, { url: '/%zz' }],
    [400, { method: 'POST', url: '/model_params', headers: json, payload: '{"freq":' }],
    [415, { method: 'POST', url: '/model_params', headers: { ...json, 'content-type': 'text/plain' }, payload: '{}' }],
    [415, { method: 'POST', url: '/model_params', headers: { ...json, 'content-encoding': 'br' }, payload: '{}' }],
    [413, { method: 'POST', url: '/model_params', headers: { ...json, 'content-length': '300000000' }, payload: '' }],
    [422, { method: 'POST', url: '/model_params', headers: json }],
    [422, { url: '/model_params', headers: AUTHORIZED }],
    [422, { url: '/model_params?freq=h&model=unheard-of', headers: AUTHORIZED }],
  ] as const;
  for (const [status, request] of cases) {
    const answer = await app.inject(request);
    assert.equal(answer.statusCode, status, JSON.stringify(request));
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    assert.ok(answer.json().detail.length > 0, JSON.stringify(request));
  }
});

test('unknown fields are ignored, whatever their values', async () => {
  const app = await startApp();
  const series = { y: Array.from({ length: 40 }, (_, i) => Math.sin(i)), sizes: [40] };
  const body = { series, freq: 'h', h: 2, detection_size: 4 };
  for (const odd of [5, 'text', [5], [['a']], { a: 1 }]) {
    for (const url of ['/v2/online_anomaly_detection', '/v2/cross_validation', '/v2/anomaly_detection']) {
      const { status } = await ask(app, url, { ...body, other: odd, series: { ...series, texts: odd } });
      assert.equal(status, 200, `${url} ${JSON.stringify(odd)}`);
    }
    const { status } = await ask(app, '/model_params', { freq: 'h', series: odd, level: odd });
    assert.equal(status, 200, JSON.stringify(odd));
  }
});

test('model parameters are the same by GET and POST; a horizon is one season, or seven, within one pass of the model', async () => {
  const app = await startApp();
  const params = async (query: Record<string, string>) => {
    const asked = await app.inject({ url: '/model_params', query, headers: AUTHORIZED });
    const posted = await app.inject({ method: 'POST', url: '/model_params', headers: AUTHORIZED, payload: query });
    assert.deepEqual(asked.json(), posted.json());
    return asked.json().detail;
  };
  assert.deepEqual(await params({ model: 'timegpt-1', freq: 'D' }), { input_size: 64, horizon: 7 });
  assert.deepEqual(await params({ model: 'timegpt-1-long-horizon', freq: 'D' }), { input_size: 64, horizon: 49 });
  assert.deepEqual(await params({ freq: 'cbh' }), { input_size: 64, horizon: 8 });
  assert.deepEqual(await params({ freq: 'unheard' }), { input_size: 64, horizon: 24 });
});

test('usage has two objects of integers', async () => {
  const app = await startApp();
  const answer = await app.inject({ url: '/usage', headers: AUTHORIZED });
  const nothing = { requests: 0, tokens: 0 };
  assert.deepEqual(answer.json(), { minute: nothing, month: nothing });
});

test('a long answer is compressed by content negotiation', async () => {
  const app = await startApp();
  const ask = (accept: string) => app.inject({ url: '/openapi.json', headers: { 'accept-encoding': accept } });
  const plain = await ask('identity');
  assert.equal(plain.headers['content-encoding'], undefined);
  const zstd = await ask('gzip, deflate, zstd');
  assert.equal(zstd.headers['content-encoding'], 'zstd');
  assert.equal(zstdDecompressSync(zstd.rawPayload).toString(), plain.body);
  const gzip = await ask('gzip, zstd;q=0.5');
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(gzip.rawPayload).toString(), plain.body);
  assert.equal((await ask('zstd;q=0, gzip;q=0, br')).headers['content-encoding'], undefined);
});

test('a traceparent that is valid is taken up into the log', async () => {
  const logged: { readonly traceId?: string }[] = [];
  const logger = createLogger('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const app = await startApp(undefined, { logger });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  for (const traceparent of [`00-${traceId}-00f067aa0ba902b7-01`, 'not-a-trace']) {
    await app.inject({ url: '/health', headers: { traceparent } });
  }
  await until('both are logged', () => logged.length === 2);
  const traceIds = logged.map((line) => line.traceId);
  assert.deepEqual(traceIds, [traceId, undefined]);
});

test('a safe request id of the client is kept', async () => {
  const app = await startApp();
  const idOf = async (id: string) =>
    (await app.inject({ url: '/health', headers: { 'x-request-id': id } })).headers['x-request-id'];
  assert.equal(await idOf('abc-1'), 'abc-1');
  assert.notEqual(await idOf('a b'), 'a b');
});

test('steps of the private library are refused in one sentence with the reason', async () => {
  const app = await startApp();
  for (const [method, url] of [
    ['POST', '/v2/execute_step/async'],
    ['GET', '/v2/execute_step/jobs/es-1/result'],
  ] as const) {
    const headers = { ...AUTHORIZED, ...(method === 'POST' && { 'content-type': 'application/zip' }) };
    const answer = await app.inject({ method, url, headers, ...(method === 'POST' && { payload: 'PK' }) });
    assert.equal(answer.statusCode, 404);
    assert.match(answer.json().detail, /^[^.]*private library, with access granted per account[^.]*$/);
  }
  assert.deepEqual((await app.inject({ url: '/v2/other', headers: AUTHORIZED })).json(), { detail: 'Not Found' });
});

test('paths of clients before 0.6 are answered with the version that they need', async () => {
  const app = await startApp();
  const suffixes = ['', '_historic', '_multi_series', '_multi_series_historic', '_multi_series_anomalies'];
  const named = ['forecast', 'historic_forecast', 'forecast_multi_series', 'historic_forecast_multi_series'];
  const others = ['anomaly_detection_multi_series', 'cross_validation_multi_series', 'model_input_size'];
  for (const path of [...suffixes.map((suffix) => `timegpt${suffix}`), ...named, ...others]) {
    const { status, body } = await ask(app, `/${path}`, {});
    assert.equal(status, 404);
    assert.match(body.detail, /nixtla 0\.6 or newer.*pip install --upgrade nixtla/, path);
  }
  assert.deepEqual((await ask(app, '/v2/forecasts', {})).body, { detail: 'Not Found' });
});
