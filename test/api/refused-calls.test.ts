import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNKNOWN_KEYS_MAX } from '../../src/sidecar/accounts/unknown-keys.ts';
import type { NewApiKey } from '../../src/store/api-keys.ts';
import type { Database } from '../../src/store/database.ts';
import { ask } from '../fixture/http/ask.ts';
import { AUTHORIZED, startApp } from '../fixture/http/http-service.ts';
import { openMemoryStore } from '../fixture/store/memory-store.ts';
import { until } from '../fixture/until.ts';

const NOW = Date.UTC(2026, 9, 31, 23, 59, 20);
const FORECAST = { series: { y: Array.from({ length: 40 }, (_, i) => Math.sin(i)), sizes: [40] }, freq: 'h', h: 5 };

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
  let lookups = 0;
  const query = store.query.bind(store);
  store.query = (text, values) => {
    if (text.includes('digest')) lookups++;
    return query(text, values);
  };
  const status = async (key: string, address: string) => {
    const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': address };
    return (await app.inject({ url: '/usage', remoteAddress: '10.0.0.1', headers })).statusCode;
  };
  const own = AUTHORIZED.authorization.slice('Bearer '.length);
  assert.equal(await status(own, '192.0.2.1'), 200);
  lookups = 0;
  for (let i = 0; i < UNKNOWN_KEYS_MAX; i++) assert.equal(await status(`guess-${i}`, '192.0.2.1'), 401);
  for (let i = 0; i < 5; i++) assert.equal(await status(`more-${i}`, '192.0.2.1'), 429);
  assert.equal(lookups, UNKNOWN_KEYS_MAX);
  assert.equal(await status('guess', '192.0.2.2'), 401);
  clock.nowMs += 10_000;
  assert.equal(await status(own, '192.0.2.1'), 200);
  clock.nowMs += 60_000;
  assert.equal(await status('guess', '192.0.2.1'), 401);
});

test('an address that no trusted proxy names is not believed', async () => {
  const { app } = await start();
  for (let i = 0; i <= UNKNOWN_KEYS_MAX; i++) {
    const headers = { authorization: `Bearer guess-${i}`, 'x-forwarded-for': `192.0.2.${i}` };
    const { statusCode } = await app.inject({ url: '/usage', remoteAddress: '203.0.113.1', headers });
    assert.equal(statusCode, i < UNKNOWN_KEYS_MAX ? 401 : 429);
  }
});
