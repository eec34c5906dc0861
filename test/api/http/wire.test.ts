import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';

const MIB = 1024 * 1024;
const app = await startApp();
const y = Array.from({ length: 60 }, (_, i) => 10 + Math.sin(i / 3) + ((i * 7919) % 13) / 20);
const BODY = { series: { y, sizes: [60] }, freq: 'D', h: 2, detection_size: 4 };
const TASKS = ['/v2/anomaly_detection', '/v2/historic_forecast'].concat(
  ['/v2/online_anomaly_detection', '/v2/forecast', '/v2/cross_validation'],
  ['/v2/anomaly_detection/async', '/v2/forecast/async', '/v2/cross_validation/async'],
);

const json = { ...AUTHORIZED, 'content-type': 'application/json' };
async function send(url: string, payload: string | Buffer, headers: Record<string, string> = {}) {
  const answer = await app.inject({ method: 'POST', url, headers: { ...json, ...headers }, payload });
  return { status: answer.statusCode, body: answer.json() };
}

/** JSON of a body with a field more, written as it is. */
const withField = (field: string, text: string) => `${JSON.stringify(BODY).slice(0, -1)},"${field}":${text}}`;
const deepList = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const deepObject = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test('every content encoding is accepted, and a charset in the content type', async () => {
  const text = JSON.stringify(BODY);
  const { body: plain } = await send('/v2/forecast', text);
  for (const [coding, bytes] of [
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['zlib', deflateSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['ZSTD', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
  ] as const) {
    const { status, body } = await send('/v2/forecast', bytes, { 'content-encoding': coding });
    assert.deepEqual([status, body], [200, plain], coding);
  }
  assert.equal((await send('/v2/forecast', text, { 'content-type': 'application/json; charset=utf-8' })).status, 200);
});

test('a body that does not match its encoding gets 400', async () => {
  const whole = zstdCompressSync(JSON.stringify(BODY));
  for (const bytes of [Buffer.from('{"no": "zstd"}'), whole.subarray(0, -5), Buffer.from(whole).fill(7, 20, 30)]) {
    const { status, body } = await send('/v2/forecast', bytes, { 'content-encoding': 'zstd' });
    assert.equal(status, 400);
    assert.match(body.detail, /cannot be read as zstd/);
  }
});

test('200 MiB of JSON are accepted; one byte more is refused before reading or while decompressing', async () => {
  const text = JSON.stringify(BODY);
  const sized = (bytes: number) => zstdCompressSync(Buffer.alloc(bytes, ' ').fill(text, 0, text.length));
  const zstd = { 'content-encoding': 'zstd' };
  assert.equal((await send('/v2/forecast', sized(200 * MIB), zstd)).status, 200);
  assert.equal((await send('/v2/forecast', sized(200 * MIB + 1), zstd)).status, 413);
  assert.equal((await send('/v2/forecast', '{}', { 'content-length': String(200 * MIB + 1) })).status, 413);
});

test('nesting of any depth is answered or refused, on the main thread and on the parser thread', async () => {
  for (const url of TASKS) {
    const accepted = url.endsWith('/async') ? 202 : 200;
    for (const text of [deepList(10_000), deepObject(10_000), deepObject(60_000)]) {
      assert.equal((await send(url, withField('other', text))).status, accepted, url);
      const { status } = await send(url, withField('model_parameters', text));
      assert.ok([accepted, 422].includes(status), `${url} ${status}`);
      assert.equal((await send(url, withField('job_options', text))).status, accepted === 202 ? 422 : 200);
      assert.equal((await send(url, withField('series', text))).status, 422);
    }
    assert.equal((await send(url, deepList(100_000))).status, 422);
  }
});

test('model-specific settings are validated when known and ignored otherwise', async () => {
  const detect = (size: unknown) =>
    ask(app, '/v2/online_anomaly_detection', { ...BODY, model_parameters: { calibration_size: size, other: {} } });
  for (const size of ['all', 1, 20, null]) assert.equal((await detect(size)).status, 200);
  const [all, few] = [await detect('all'), await detect(30)];
  assert.notDeepEqual(few.body.anomaly_score, all.body.anomaly_score);
  for (const size of [0, -1, 2.5, 'some', true, []]) {
    const { status, body } = await detect(size);
    assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'model_parameters', 'calibration_size']]);
  }
  const { status } = await ask(app, '/v2/forecast', { ...BODY, model_parameters: { calibration_size: 'some' } });
  assert.equal(status, 200);
});

test('fields without effect are accepted and validated', async () => {
  const { body: plain } = await ask(app, '/v2/online_anomaly_detection', BODY);
  const sent = { refit: false, multivariate: true, model_parameters: null, hist_exog: null, finetuned_model_id: null };
  const series = { ...BODY.series, X: null, categorical_exog: null, start_datetime: ['2024-01-01T00:00:00'] };
  const { status, body } = await ask(app, '/v2/online_anomaly_detection', { ...BODY, ...sent, series });
  assert.deepEqual([status, body], [200, plain]);
  const wrong = [
    [{ refit: 1 }, ['body', 'refit']],
    [{ multivariate: 'yes' }, ['body', 'multivariate']],
    [{ hist_exog: [-1] }, ['body', 'hist_exog', 0]],
    [{ hist_exog: [0] }, ['body', 'hist_exog', 0]],
    [{ finetune_depth: 6 }, ['body', 'finetune_depth']],
    [{ finetune_loss: 'huber' }, ['body', 'finetune_loss']],
    [{ finetune_steps: -1 }, ['body', 'finetune_steps']],
    [{ finetuned_model_id: 'a'.repeat(37) }, ['body', 'finetuned_model_id']],
    [{ finetuned_model_id: 'no spaces' }, ['body', 'finetuned_model_id']],
    [{ series: { ...series, start_datetime: [] } }, ['body', 'series', 'start_datetime']],
    [{ series: { ...series, start_datetime: [5] } }, ['body', 'series', 'start_datetime', 0]],
    [{ series: { ...series, categorical_exog: [0] } }, ['body', 'series', 'categorical_exog', 0]],
  ] as const;
  for (const [fields, loc] of wrong) {
    const { status, body } = await ask(app, '/v2/online_anomaly_detection', { ...BODY, ...fields });
    assert.deepEqual([status, body.detail[0].loc], [422, loc]);
  }
});

test('no CORS header is sent', async () => {
  const origin = { origin: 'https://elsewhere.example' };
  const preflight = await app.inject({ method: 'OPTIONS', url: '/v2/forecast', headers: origin });
  assert.equal(preflight.statusCode, 405);
  const answer = await app.inject({ url: '/usage', headers: { ...AUTHORIZED, ...origin } });
  for (const { headers } of [preflight, answer]) {
    const actual = Object.keys(headers).filter((name) => name.startsWith('access-control'));
    assert.deepEqual(actual, []);
  }
});

test('invalid HTTP and endless headers are refused in JSON', async () => {
  const listening = await startApp();
  const { port } = new URL(await listening.listen({ port: 0, host: '127.0.0.1' }));
  for (const [status, text] of [
    [400, 'no HTTP at all\r\n\r\n'],
    [431, `GET /health HTTP/1.1\r\nhost: here\r\nlong: ${'x'.repeat(100_000)}\r\n\r\n`],
  ] as const) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(text);
    socket.setEncoding('utf8');
    let answer = '';
    socket.on('data', (piece) => {
      answer += piece;
    });
    // Headers that nobody reads any more may end in a reset once the answer is here.
    socket.on('error', () => undefined);
    await once(socket, 'close');
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    assert.equal(typeof JSON.parse(answer.split('\r\n\r\n')[1]).detail, 'string');
  }
  await listening.close();
});
