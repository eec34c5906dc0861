import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ServiceError } from '../../../src/ops/service-error.ts';
import type { ReceivedPoints, ReceiveOutcome } from '../../../src/records/received-points.ts';
import { AUTHORIZED, KEY, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { until } from '../../fixture/until.ts';

const RECEIVED: ReceiveOutcome = { kind: 'received', accepted: 2, unwatched: 1, missing: 0, refused: 0, reasons: [] };
const REFUSED: ReceiveOutcome = { ...RECEIVED, refused: 3, reasons: ['a: the value is missing', 'b: late'] };

async function world(answer: ReceiveOutcome | Error = RECEIVED) {
  const bodies: ReceivedPoints[] = [];
  const app = await startApp(quantileForecaster(), {
    receivePoints: async (points) => {
      bodies.push({ ...points, bytes: Buffer.from(points.bytes) });
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const post = (url: string, contentType: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url, payload, headers: { ...AUTHORIZED, 'content-type': contentType, ...headers } });
  return { app, bodies, post };
}

const written = ({ headers }: { readonly headers: Record<string, unknown> }) =>
  ['samples', 'histograms', 'exemplars'].map((what) => headers[`x-prometheus-remote-write-${what}-written`]);

test('remote write of either version is answered with 204 and what is written, another message with 415', async () => {
  const { bodies, post } = await world({ ...RECEIVED, missing: 4 });
  const snappy = { 'content-encoding': 'snappy', 'x-prometheus-remote-write-version': '0.1.0' };
  for (const type of [
    'application/x-protobuf',
    'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'Application/X-Protobuf ; Proto="io.prometheus.write.v2.Request"',
  ]) {
    const answer = await post('/api/v1/write', type, Buffer.from([1, 2, 3]), snappy);
    assert.deepEqual([answer.statusCode, answer.body, written(answer)], [204, '', ['7', '0', '0']], type);
  }
  const body = { format: 'remote-write', bytes: Buffer.from([1, 2, 3]), snappy: true, precision: 'ns' };
  assert.deepEqual(bodies, [body, body, body]);
  const third = await post('/api/v1/write', 'application/x-protobuf;proto=io.prometheus.write.v3.Request', 'x', snappy);
  assert.equal(third.statusCode, 415);
  assert.match(
    third.json().detail,
    /proto .* must be prometheus.WriteRequest or io.prometheus.write.v2.Request, got io/,
  );
  for (const type of ['application/json', 'application/vnd.api+json; charset=utf-8']) {
    const answer = await post('/api/v1/write', type, '{}', snappy);
    assert.equal(answer.statusCode, 415, type);
    assert.match(answer.json().detail, /^Content-Type must be application\/x-protobuf/);
  }
});

test('native histograms are counted as written next to the samples', async () => {
  const { post } = await world({ ...RECEIVED, accepted: 9, histograms: { count: 2, points: 7 } });
  assert.deepEqual(written(await post('/api/v1/write', 'application/x-protobuf', 'x')), ['3', '2', '0']);
});

test('encodings and media types are compared as their RFCs require', async () => {
  const { bodies, post } = await world();
  for (const encoding of ['SNAPPY', ' snappy, ', 'identity,Snappy', 'X-GZIP']) {
    const body = encoding === 'X-GZIP' ? gzipSync('x') : 'x';
    const answer = await post('/api/v1/write', 'application/x-protobuf', body, { 'content-encoding': encoding });
    assert.equal(answer.statusCode, 204, encoding);
  }
  const actual = bodies.map(({ snappy, bytes }) => [snappy, String(bytes)]);
  assert.deepEqual(actual, [...Array(3).fill([true, 'x']), [false, 'x']]);
  assert.equal((await post('/v1/metrics', 'Application/JSON; charset=UTF-8', '{}')).json().partialSuccess, undefined);
  assert.equal(bodies.at(-1)?.format, 'otlp-json');
  await post('/v1/metrics', 'application/jsonlines', '{}');
  assert.equal(bodies.at(-1)?.format, 'otlp-protobuf');
});

test('a path that senders use elsewhere is 404 with the right one', async () => {
  const { post } = await world();
  for (const [path, right] of [
    ['/v1/metrics/', '/v1/metrics'],
    ['//v1/metrics', '/v1/metrics'],
    ['/v1/metrics/v1/metrics', '/v1/metrics'],
    ['/api/v1/otlp/v1/metrics?x=1', '/v1/metrics'],
    ['/api/v1/push', '/api/v1/write'],
    ['/API/v1/write/', '/api/v1/write'],
    ['/influx/write?db=x', '/write'],
    ['/v1/observations/', '/v1/observations'],
  ]) {
    const detail = `Not Found: metrics are written to ${right}`;
    const answer = await post(path, 'text/plain', 'x');
    assert.deepEqual([answer.statusCode, answer.json()], [404, { detail }]);
    const binary = await post(path, 'application/x-protobuf', 'x');
    // Senders of OTLP log the message of a Status, and those of remote write the text.
    const status = right === '/v1/metrics' || right === '/v1/observations';
    assert.equal(status ? String(binary.rawPayload.subarray(4)) : binary.json().detail, detail);
  }
  assert.deepEqual((await post('/v1/logs', 'application/json', '{}')).json(), { detail: 'Not Found' });
});

test('what senders would drop for good, 429 among it, is 503 with Retry-After', async () => {
  const waiting: (() => void)[] = [];
  const app = await startApp(quantileForecaster(), {
    receivePoints: () => new Promise((resolve) => waiting.push(() => resolve(RECEIVED))),
  });
  const headers = { ...AUTHORIZED, 'content-type': 'text/plain' };
  const post = () => app.inject({ method: 'POST', url: '/api/v2/write', headers, payload: 'x' });
  const open = Array.from({ length: 64 }, post);
  await until('all are open', () => waiting.length === 64);
  const refused = await post();
  assert.equal(refused.statusCode, 503);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.match(refused.json().detail, /64 such requests at once/);
  for (const resolve of waiting) resolve();
  await Promise.all(open);
});

test('line protocol has the precision of its query, and may be compressed', async () => {
  const { bodies, post } = await world();
  const answer = await post('/api/v2/write?org=o&bucket=b&precision=s', 'text/plain; charset=utf-8', 'm f=1 1');
  assert.equal(answer.statusCode, 204);
  assert.deepEqual(
    [bodies[0].format, bodies[0].bytes.toString(), bodies[0].precision],
    ['line-protocol', 'm f=1 1', 's'],
  );
  assert.equal((await post('/api/v2/write?precision=h', 'text/plain', 'm f=1 1')).statusCode, 422);
});

test('unusable points are answered by 400 with the reasons, and that the rest is written', async () => {
  const { post } = await world(REFUSED);
  for (const url of ['/api/v1/write', '/api/v2/write']) {
    const answer = await post(url, 'application/octet-stream', 'x');
    assert.equal(answer.statusCode, 400);
    const message = '3 points cannot be used, 2 are written: a: the value is missing; b: late';
    assert.deepEqual(written(answer), url === '/api/v1/write' ? ['3', '0', '0'] : Array(3).fill(undefined));
    // Influx clients show code and message, or error.
    const error = url === '/api/v1/write' ? {} : { error: message };
    assert.deepEqual(answer.json(), { code: 'invalid', message, ...error, detail: message });
  }
});

test('the block of vmagent that holds what cannot be used is 409: it takes 400 as a refusal of its zstd', async () => {
  const { post } = await world(REFUSED);
  const zstd = { 'content-encoding': 'zstd' };
  const answer = await post('/api/v1/write', 'application/x-protobuf', zstdCompressSync('x'), zstd);
  assert.deepEqual([answer.statusCode, written(answer)], [409, ['3', '0', '0']]);
});

test('a body of which nothing can be used is 400 in every format, which no sender repeats', async () => {
  const { post } = await world({ ...REFUSED, accepted: 0, unwatched: 0 });
  const message = '3 points cannot be used, 0 are written: a: the value is missing; b: late';
  const lines = await post('/v1/observations', 'application/x-ndjson', '{}\n');
  assert.deepEqual([lines.statusCode, lines.json()], [400, { detail: message }]);
  const json = await post('/v1/metrics', 'application/json', '{}');
  assert.deepEqual([json.statusCode, json.json()], [400, { code: 3, message, detail: message }]);
  const binary = await post('/v1/metrics', 'application/x-protobuf', Buffer.from([10, 0]));
  assert.deepEqual([binary.statusCode, binary.headers['content-type']], [400, 'application/x-protobuf']);
  assert.deepEqual([...binary.rawPayload.subarray(0, 4)], [8, 3, 18, message.length]);
  assert.equal(binary.rawPayload.subarray(4).toString(), message);
  const none = await (await world({ ...RECEIVED, accepted: 0 })).post('/v1/observations', 'application/x-ndjson', '{}');
  assert.equal(none.statusCode, 200, 'series that nobody watches are no fault of the sender');
});

test('OTLP is answered in its own encoding, with what was refused', async () => {
  const json = await (await world(REFUSED)).post('/v1/metrics', 'application/json', '{}');
  assert.deepEqual(json.json(), {
    partialSuccess: { rejectedDataPoints: '3', errorMessage: 'a: the value is missing; b: late' },
  });
  const { bodies, post } = await world();
  const whole = await post('/v1/metrics', 'application/x-protobuf', Buffer.from([10, 0]));
  assert.deepEqual(
    [whole.statusCode, whole.rawPayload.length, whole.headers['content-type']],
    [200, 0, 'application/x-protobuf'],
  );
  assert.equal(bodies[0].format, 'otlp-protobuf');
  const partial = await (await world(REFUSED)).post('/v1/metrics', 'application/x-protobuf', Buffer.from([10, 0]));
  assert.deepEqual([...partial.rawPayload.subarray(0, 6)], [10, 36, 8, 3, 18, 32]);
});

test('whatever refuses OTLP answers the Status that the description has, whose message the Collector logs', async () => {
  const { app, post } = await world();
  const { paths, components } = (await app.inject({ url: '/openapi.json' })).json();
  const described: Record<string, { $ref: string }> = paths['/v1/metrics'].post.responses;
  for (const { $ref } of Object.values(described)) {
    const { content } = components.responses[$ref.slice('#/components/responses/'.length)];
    assert.deepEqual(content, { 'application/json': { schema: { $ref: '#/components/schemas/RpcStatus' } } });
  }
  assert.deepEqual(Object.keys(described), ['400', '401', '403', '404', '413', '415', '503']);
  const refusals = [
    [{ 'content-encoding': 'lz4' }, 415, 3, 'Content-Encoding must be gzip, deflate or zstd, got lz4'],
    [{ authorization: 'Bearer no' }, 401, 16, 'Invalid API key'],
    [{ 'content-length': '99999999' }, 413, 3, 'The body is larger than 33554432 bytes (uncompressed)'],
  ] as const;
  for (const [headers, status, code, message] of refusals) {
    const binary = await post('/v1/metrics', 'application/x-protobuf', 'x', headers);
    assert.deepEqual([binary.statusCode, binary.headers['content-type']], [status, 'application/x-protobuf']);
    assert.deepEqual([binary.rawPayload[1], String(binary.rawPayload.subarray(4))], [code, message]);
    const json = await post('/v1/metrics', 'application/json', '{}', headers);
    assert.deepEqual([json.statusCode, json.json()], [status, { code, message, detail: message }]);
  }
  const later = await world(new ServiceError('overloaded', 'later', { retryable: true }));
  const away = await later.post('/v1/metrics', 'application/x-protobuf', 'x');
  assert.deepEqual([away.statusCode, away.rawPayload[1], Number(away.headers['retry-after']) > 0], [503, 14, true]);
});

test('JSON lines are answered with what became of them', async () => {
  const { bodies, post } = await world(REFUSED);
  const answer = await post('/v1/observations', 'application/x-ndjson', '{"series":"a"}\n');
  const { kind: _, missing: __, ...expected } = REFUSED;
  assert.deepEqual(answer.json(), expected);
  assert.equal(bodies[0].format, 'json-lines');
});

test('a body that cannot be read is 400; Kafka away or a full queue is 503 with Retry-After', async () => {
  const unreadable = await world({ kind: 'unreadable', detail: 'not a WriteRequest' });
  const bad = await unreadable.post('/api/v1/write', 'application/x-protobuf', 'x');
  assert.deepEqual([bad.statusCode, bad.json().detail], [400, 'not a WriteRequest']);
  for (const code of ['overloaded', 'broker-unavailable'] as const) {
    const { post } = await world(new ServiceError(code, 'later', { retryable: true }));
    const later = await post('/api/v1/write', 'application/x-protobuf', 'x');
    assert.equal(later.statusCode, 503, code);
    assert.ok(Number(later.headers['retry-after']) > 0, code);
  }
});

test('keys are those of every route: Bearer, Token, the password of Basic; without one 401', async () => {
  const { post } = await world();
  const basic = `Basic ${Buffer.from(`prometheus:${KEY}`).toString('base64')}`;
  for (const authorization of [`Bearer ${KEY}`, `Token ${KEY}`, basic]) {
    assert.equal((await post('/api/v1/write', 'text/plain', 'x', { authorization })).statusCode, 204, authorization);
  }
  for (const authorization of ['', 'Basic ', `Basic ${Buffer.from('user').toString('base64')}`, 'Token no']) {
    assert.equal((await post('/api/v1/write', 'text/plain', 'x', { authorization })).statusCode, 401, authorization);
  }
});

test('a service that receives no points refuses them with the reason, and other routes still want JSON', async () => {
  const app = await startApp();
  const headers = { ...AUTHORIZED, 'content-type': 'text/plain' };
  assert.equal((await app.inject({ method: 'POST', url: '/api/v1/write', headers, payload: 'x' })).statusCode, 404);
  assert.equal((await app.inject({ method: 'POST', url: '/v2/forecast', headers, payload: 'x' })).statusCode, 415);
});
