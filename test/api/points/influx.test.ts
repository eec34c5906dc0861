import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ReceivedPoints, ReceiveOutcome } from '../../../src/records/received-points.ts';
import { AUTHORIZED, KEY, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';

const RECEIVED: ReceiveOutcome = { kind: 'received', accepted: 1, unwatched: 0, missing: 0, refused: 0, reasons: [] };

async function world(answer: ReceiveOutcome = RECEIVED) {
  const bodies: ReceivedPoints[] = [];
  const receivePoints = async (points: ReceivedPoints) => {
    bodies.push({ ...points, bytes: Buffer.from(points.bytes) });
    return answer;
  };
  return { bodies, app: await startApp(quantileForecaster(), { receivePoints }) };
}

test('a write of InfluxDB 1 is line protocol in the unit of its precision', async () => {
  const { app, bodies } = await world();
  for (const [given, precision] of Object.entries({ n: 'ns', u: 'us', ms: 'ms', s: 's', m: 'm', h: 'h' })) {
    const url = `/write?db=a&rp=autogen&consistency=one&precision=${given}`;
    const { statusCode } = await app.inject({ method: 'POST', url, headers: AUTHORIZED, payload: 'a value=1 2' });
    assert.deepEqual([statusCode, bodies.at(-1)?.precision], [204, precision]);
  }
  const headers = { ...AUTHORIZED, 'content-encoding': 'gzip' };
  await app.inject({ method: 'POST', url: '/write?db=a', headers, payload: gzipSync('a value=1 2') });
  assert.deepEqual(bodies.at(-1), {
    format: 'line-protocol',
    bytes: Buffer.from('a value=1 2'),
    snappy: false,
    precision: 'ns',
  });
  const unknown = await app.inject({ method: 'POST', url: '/write?precision=d', headers: AUTHORIZED, payload: 'a' });
  assert.equal(unknown.statusCode, 422);
});

test('a key of InfluxDB 1 is the parameter p, the password of Basic, or behind the user of Token', async () => {
  const { app } = await world();
  const status = async (url: string, authorization?: string) =>
    (await app.inject({ method: 'POST', url, payload: 'a value=1', headers: authorization ? { authorization } : {} }))
      .statusCode;
  const basic = `Basic ${Buffer.from(`user:${KEY}`).toString('base64')}`;
  assert.deepEqual(
    [
      await status(`/write?db=a&u=user&p=${KEY}`),
      await status('/write?db=a', basic),
      await status('/write?db=a', `Token user:${KEY}`),
      await status('/write?db=a', `Token ${KEY}`),
      await status('/write?db=a&u=user&p=another-key-that-is-unknown'),
      await status('/write?db=a'),
      // A key in a query reaches logs of proxies, so other routes do not take it.
      await status(`/api/v2/write?p=${KEY}`),
    ],
    [204, 204, 204, 204, 401, 401, 401],
  );
});

test('refused lines are 400 with the reason under error', async () => {
  const { app } = await world({ ...RECEIVED, refused: 1, reasons: ['line 2: there are no fields'] });
  const answer = await app.inject({ method: 'POST', url: '/write?db=a', headers: AUTHORIZED, payload: 'a\nb' });
  assert.equal(answer.statusCode, 400);
  assert.match(answer.json().error, /1 points cannot be used, 1 are written: line 2: there are no fields/);
});

test('the databases that clients create and look for exist; other queries are refused by name', async () => {
  const { app } = await world();
  const get = (q: string) => app.inject({ url: `/query?q=${encodeURIComponent(q)}&db=m`, headers: AUTHORIZED });
  assert.deepEqual((await get('SHOW DATABASES')).json(), {
    results: [{ statement_id: 0, series: [{ name: 'databases', columns: ['name'], values: [['m']] }] }],
  });
  const headers = { ...AUTHORIZED, 'content-type': 'application/x-www-form-urlencoded' };
  const payload = 'q=CREATE+DATABASE+%22metrics%22';
  const created = await app.inject({ method: 'POST', url: '/query', headers, payload });
  assert.deepEqual([created.statusCode, created.json()], [200, { results: [{ statement_id: 0 }] }]);
  const refused = await get('SELECT * FROM cpu');
  assert.equal(refused.statusCode, 400);
  assert.match(refused.json().error, /must be CREATE DATABASE or SHOW DATABASES, got "SELECT/);
});

test('ping and health are answered without a key, as clients of InfluxDB 1 and 2 expect it', async () => {
  const { app } = await world();
  for (const method of ['GET', 'HEAD'] as const) {
    const { statusCode, headers } = await app.inject({ method, url: '/ping' });
    assert.deepEqual([statusCode, headers['x-influxdb-version']], [204, '1.8.10']);
  }
  const { status, message } = (await app.inject({ url: '/health' })).json();
  assert.deepEqual([status, message], ['pass', 'ready for queries and writes']);
});
