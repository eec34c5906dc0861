import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReceivedPoints, ReceiveOutcome } from '../../src/record/received-points.ts';
import { ServiceError } from '../../src/service-error.ts';
import { AUTHORIZED, KEY, quantileForecaster, startApp } from '../fixture/http/http-service.ts';

const RECEIVED: ReceiveOutcome = { kind: 'received', accepted: 2, unwatched: 1, refused: 0, reasons: [] };
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

test('remote write 1.0 is answered with 204, 2.0 with 415 so that senders fall back', async () => {
  const { bodies, post } = await world();
  const snappy = { 'content-encoding': 'snappy', 'x-prometheus-remote-write-version': '0.1.0' };
  const answer = await post('/api/v1/write', 'application/x-protobuf', Buffer.from([1, 2, 3]), snappy);
  assert.deepEqual([answer.statusCode, answer.body], [204, '']);
  assert.deepEqual(bodies, [{ format: 'remote-write', bytes: Buffer.from([1, 2, 3]), snappy: true, precision: 'ns' }]);
  const second = 'application/x-protobuf;proto=io.prometheus.write.v2.Request';
  assert.equal((await post('/api/v1/write', second, Buffer.from([1]), snappy)).statusCode, 415);
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

test('what cannot be used is 400 with the reasons, and says that the rest is written', async () => {
  const { post } = await world(REFUSED);
  for (const url of ['/api/v1/write', '/api/v2/write']) {
    const answer = await post(url, 'application/octet-stream', 'x');
    assert.equal(answer.statusCode, 400);
    const message = '3 points cannot be used, 2 are written: a: the value is missing; b: late';
    // Influx clients show code and message.
    assert.deepEqual(answer.json(), { code: 'invalid', message, detail: message });
  }
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

test('JSON lines are answered with what became of them', async () => {
  const { bodies, post } = await world(REFUSED);
  const answer = await post('/v1/observations', 'application/x-ndjson', '{"series":"a"}\n');
  const { kind: _, ...expected } = REFUSED;
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

test('a service that receives no points says so, and other routes still want JSON', async () => {
  const app = await startApp();
  const headers = { ...AUTHORIZED, 'content-type': 'text/plain' };
  assert.equal((await app.inject({ method: 'POST', url: '/api/v1/write', headers, payload: 'x' })).statusCode, 404);
  assert.equal((await app.inject({ method: 'POST', url: '/v2/forecast', headers, payload: 'x' })).statusCode, 415);
});
