import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNKNOWN_SECRETS_MAX } from '../../../src/api/accounts/keys/unknown-secrets.ts';
import { consoleFiles } from '../../../src/console/page-files.ts';
import type { Database } from '../../../src/store/database/database.ts';
import type { NewApiKey } from '../../../src/store/keys/api-keys.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, KEY, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { until } from '../../fixture/until.ts';

const NOW = Date.UTC(2026, 9, 31, 23, 59, 20);
const FORECAST = { series: { y: Array.from({ length: 40 }, (_, i) => Math.sin(i)), sizes: [40] }, freq: 'h', h: 5 };

/** How many statements with this part were run since. */
function countStatements(store: Database, part: string): () => number {
  let count = 0;
  const query = store.query.bind(store);
  store.query = (text, values) => {
    if (text.includes(part)) count++;
    return query(text, values);
  };
  return () => count;
}

async function start(key: Partial<NewApiKey> = {}) {
  const [store, clock] = [await openMemoryStore(), { nowMs: NOW }];
  const app = await startApp(undefined, {
    store,
    key,
    nowMs: () => clock.nowMs,
    web: { trustedProxies: ['10.0.0.1'] },
  });
  return { app, store, clock };
}

const callsOf = async (store: Database) => {
  const rows = await store.query<{ calls: number }>('SELECT calls FROM usage_minutes ORDER BY minute_at DESC');
  return rows[0]?.calls ?? 0;
};

test('422s count towards the calls a minute, and then a body is refused before it is read', async () => {
  const { app, store, clock } = await start({ callsPerMinute: 3 });
  for (let call = 1; call <= 3; call++) {
    assert.equal((await ask(app, '/v2/forecast', { ...FORECAST, h: 0 })).status, 422);
    await until('it is counted', async () => (await callsOf(store)) === call, { everyMs: 5 });
  }
  const { status, headers, body } = await ask(app, '/v2/forecast', 'not even JSON');
  assert.deepEqual([status, headers['retry-after']], [429, '40']);
  assert.match(body.detail, /3 calls a minute/);
  assert.match(String(headers.ratelimit), /"calls";r=0;t=40/);
  assert.equal((await app.inject({ url: '/usage', headers: AUTHORIZED })).statusCode, 200);
  clock.nowMs += 40_000;
  assert.equal((await ask(app, '/v2/forecast', FORECAST)).status, 200);
});

test('refused calls count towards the calls a minute', async () => {
  const { app, store } = await start({ callsPerMinute: 3, credits: 0 });
  for (let call = 1; call <= 3; call++) {
    assert.equal((await ask(app, '/v2/forecast', FORECAST)).body.code, 'A21');
    await until('it is counted', async () => (await callsOf(store)) === call, { everyMs: 5 });
  }
  const { status, body } = await ask(app, '/v2/forecast', FORECAST);
  assert.deepEqual([status, body.code], [429, undefined]);
});

test('an admitted call counts once', async () => {
  const { app, store } = await start({ callsPerMinute: 5 });
  assert.equal((await ask(app, '/v2/forecast', FORECAST)).status, 200);
  assert.equal((await ask(app, '/v2/forecast/async', FORECAST)).status, 202);
  assert.equal((await ask(app, '/v2/forecast', { ...FORECAST, h: 0 })).status, 422);
  await until('all are counted', async () => (await callsOf(store)) === 3, { everyMs: 5 });
});

test('unknown keys are limited per address before the store is asked, and known keys are not', async () => {
  const { app, store, clock } = await start();
  const lookups = countStatements(store, 'digest = $1');
  const status = async (key: string, address: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': address };
    return (await app.inject({ url: '/usage', remoteAddress: '10.0.0.1', headers })).statusCode;
  };
  const own = AUTHORIZED.authorization.slice('Bearer '.length);
  assert.equal(await status(own, '192.0.2.1'), 200);
  const before = lookups();
  for (let i = 0; i < UNKNOWN_SECRETS_MAX; i++) assert.equal(await status(`guess-${i}`, '192.0.2.1'), 401);
  for (let i = 0; i < 5; i++) assert.equal(await status(`more-${i}`, '192.0.2.1'), 429);
  assert.equal(lookups() - before, UNKNOWN_SECRETS_MAX);
  assert.equal(await status('guess', '192.0.2.2'), 401);
  clock.nowMs += 10_000;
  assert.equal(await status(own, '192.0.2.1'), 200);
  clock.nowMs += 60_000;
  assert.equal(await status('guess', '192.0.2.1'), 401);
});

test('an address that no trusted proxy names is not believed', async () => {
  const { app } = await start();
  for (let i = 0; i <= UNKNOWN_SECRETS_MAX; i++) {
    const headers = { authorization: `Bearer guess-${i}`, 'x-forwarded-for': `192.0.2.${i}` };
    const { statusCode } = await app.inject({ url: '/usage', remoteAddress: '203.0.113.1', headers });
    assert.equal(statusCode, i < UNKNOWN_SECRETS_MAX ? 401 : 429);
  }
});

test('an address that tried 60 unknown keys is refused further ones, but none of its valid keys', async () => {
  const { app, store, clock } = await start({ role: 'admin' });
  const status = async (key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.1' };
    return (await app.inject({ url: '/usage', remoteAddress: '10.0.0.1', headers })).statusCode;
  };
  const guess = async () => {
    for (let i = 0; i < UNKNOWN_SECRETS_MAX; i++) await status(`guess-${i}`);
    assert.equal(await status('one-more'), 429);
  };
  await guess();
  assert.equal(await status(KEY), 200, 'a key that no process has seen before');
  const made = await ask(app, '/v1/keys', { name: 'other', role: 'viewer' });
  assert.equal(await status(made.body.key), 200, 'a key that is new');
  assert.equal((await ask(app, `/v1/keys/${made.body.id}/revoke`, {})).status, 200);
  assert.deepEqual([await status(KEY), await status(made.body.key)], [200, 429], 'one after the change of another');
  const reads = countStatements(store, 'digest');
  for (let i = 0; i < 200; i++) assert.equal(await status(`further-${i}`), 429);
  assert.ok(reads() <= 1, `${reads()} reads for 200 guesses`);
  clock.nowMs += 1_000;
  assert.equal(await status(KEY), 200);
});

test('the change of a key leaves the others as they are known', async () => {
  const { app, store } = await start({ role: 'admin' });
  const other = (await ask(app, '/v1/keys', { name: 'other', role: 'viewer' })).body;
  const third = (await ask(app, '/v1/keys', { name: 'third', role: 'viewer' })).body;
  const status = async (key: string) =>
    (await app.inject({ url: '/usage', headers: { authorization: `Bearer ${key}` } })).statusCode;
  assert.deepEqual([await status(other.key), await status(third.key)], [200, 200]);
  const lookups = countStatements(store, 'digest = $1');
  await ask(app, `/v1/keys/${other.id}/role`, { role: 'operator' });
  assert.deepEqual([await status(third.key), lookups()], [200, 0]);
  assert.deepEqual([await status(other.key), lookups()], [200, 1]);
});

test('guessed sessions count as unknown keys do, and a session that is known is accepted all the same', async () => {
  const [store, clock] = [await openMemoryStore(), { nowMs: NOW }];
  const app = await startApp(undefined, { store, nowMs: () => clock.nowMs, consolePage: consoleFiles() });
  const site = { 'sec-fetch-site': 'same-origin', host: 'watch.example', origin: 'http://watch.example' };
  const status = async (token: string) =>
    (await app.inject({ url: '/usage', headers: { ...site, cookie: `tidewatch-session=${token}` } })).statusCode;
  for (let i = 0; i < UNKNOWN_SECRETS_MAX; i++) assert.equal(await status(`guess-${i}`), 401);
  assert.equal(await status('one-more'), 429);
  const headers = { authorization: 'Bearer an-unknown-key' };
  assert.equal((await app.inject({ url: '/usage', headers })).statusCode, 429, 'both are counted together');
  const begun = await app.inject({ method: 'POST', url: '/console/session', headers: { ...site, ...AUTHORIZED } });
  assert.deepEqual([begun.statusCode, await status(begun.cookies[0].value)], [200, 200]);
  const asked = await app.inject({ url: '/console/session', headers: { ...site, cookie: 'tidewatch-session=guess' } });
  assert.equal(asked.statusCode, 429);
});
