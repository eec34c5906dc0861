import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KEY_CACHED_MS } from '../../../src/api/accounts/keys/key-ring.ts';
import type { App } from '../../../src/api/http/exchange/app-services.ts';
import type { QuantileForecaster } from '../../../src/forecasting/forecaster.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { grantCredits, type NewApiKey, revokeApiKey } from '../../../src/store/keys/api-keys.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';
import { readAudit } from '../../fixture/store/read-audit.ts';

const KEY_ID = 'the-key';
const NOW = Date.UTC(2026, 9, 31, 23, 59, 50);
const y = Array.from({ length: 40 }, (_, i) => 10 + Math.sin(i / 3));
const series = { y, sizes: [40] };
const FORECAST = { series, freq: 'h', h: 5 };
/** 40 values in, 5 out. */
const FORECAST_TOKENS = 45;

interface World {
  readonly app: App;
  readonly store: Database;
  readonly clock: { nowMs: number };
  creditsLeft(): Promise<number | null>;
}

async function start(key: Partial<NewApiKey>, forecaster: QuantileForecaster = quantileForecaster()): Promise<World> {
  const [store, clock] = [await openMemoryStore(), { nowMs: NOW }];
  const app = await startApp(forecaster, { store, key, nowMs: () => clock.nowMs });
  const creditsLeft = async () => {
    const rows = await store.query<{ credits: number | null }>('SELECT credits FROM api_keys WHERE id = $1', [KEY_ID]);
    return rows[0].credits;
  };
  return { app, store, clock, creditsLeft };
}

/** A forecaster whose calls wait until `finish`. */
function slowForecaster() {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const model = quantileForecaster();
  const slow: QuantileForecaster = {
    ...model,
    async forecast(batch, signal) {
      begin();
      await finished;
      return model.forecast(batch, signal);
    },
    async forecastQuantiles(batch, signal) {
      begin();
      await finished;
      return model.forecastQuantiles(batch, signal);
    },
  };
  return { slow, begun, finish };
}

const usage = async ({ app }: World) => (await app.inject({ url: '/usage', headers: AUTHORIZED })).json();

test('every endpoint charges exactly the tokens of its answer', async () => {
  const world = await start({ credits: 10_000 });
  const online = { ...FORECAST, detection_size: 4, level: 99 };
  let [spent, requests] = [0, 0];
  for (const [url, body] of [
    ['/v2/forecast', { ...FORECAST, level: [80, 90] }],
    ['/v2/cross_validation', { ...FORECAST, n_windows: 3, step_size: 2 }],
    ['/v2/cross_validation', { ...FORECAST, full_history: true }],
    ['/v2/anomaly_detection', { series, freq: 'h', level: 99 }],
    ['/v2/historic_forecast', { series, freq: 'h', level: [80] }],
    ['/v2/online_anomaly_detection', online],
  ] as const) {
    const { status, body: answer } = await ask(world.app, url, body);
    assert.equal(status, 200, url);
    spent += answer.input_tokens + answer.output_tokens + answer.finetune_tokens;
    assert.equal(await world.creditsLeft(), 10_000 - spent, url);
    assert.deepEqual(await usage(world), {
      minute: { requests: ++requests, tokens: spent },
      month: { requests, tokens: spent },
    });
  }
  assert.equal((await ask(world.app, '/v2/forecast', { ...FORECAST, h: 0 })).status, 422);
  assert.equal(await world.creditsLeft(), 10_000 - spent);
});

test('with exhausted credits nothing is computed, and the 429 body is the one clients expect', async () => {
  let forecasts = 0;
  const counting = quantileForecaster();
  const world = await start(
    { credits: FORECAST_TOKENS + 1 },
    {
      ...counting,
      forecast: (batch, signal) => {
        forecasts++;
        return counting.forecast(batch, signal);
      },
    },
  );
  assert.equal((await ask(world.app, '/v2/forecast', FORECAST)).status, 200);
  assert.equal(forecasts, 1);
  for (const url of ['/v2/forecast', '/v2/forecast/async']) {
    const { status, headers, body } = await ask(world.app, url, FORECAST);
    assert.equal(status, 429);
    const { requestID, support, details, detail, ...said } = body;
    assert.deepEqual(said, { data: null, message: 'Too many requests', code: 'A21' });
    assert.match(details, /payment method must be added.*keys credit KEY --credits N/);
    assert.deepEqual([typeof support, typeof detail], ['string', 'string']);
    assert.equal(requestID, headers['x-request-id']);
    assert.equal(headers['retry-after'], undefined);
  }
  assert.equal(forecasts, 1);
  assert.equal(await world.creditsLeft(), 1);
  await grantCredits(world.store, { id: KEY_ID, tokens: FORECAST_TOKENS }, { nowMs: NOW, actor: 'operator' });
  assert.equal((await ask(world.app, '/v2/forecast', FORECAST)).status, 200);
});

test('failed and abandoned requests cost nothing', async () => {
  const failing = async () => assert.fail('the model broke');
  const broken = await start({ credits: 100 }, { ...quantileForecaster(), forecast: failing });
  assert.equal((await ask(broken.app, '/v2/forecast', FORECAST)).status, 500);
  assert.equal(await broken.creditsLeft(), 100);
  assert.deepEqual((await usage(broken)).month, { requests: 0, tokens: 0 });

  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const endless: QuantileForecaster = {
    ...quantileForecaster(),
    forecast: (_batch, signal) =>
      new Promise((_, reject) => {
        signal!.addEventListener('abort', () => reject(signal!.reason));
        begin();
      }),
  };
  const left = await start({ credits: 100 }, endless);
  const url = `${await left.app.listen({ port: 0, host: '127.0.0.1' })}/v2/forecast`;
  const client = new AbortController();
  const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
  const asked = fetch(url, { method: 'POST', headers, body: JSON.stringify(FORECAST), signal: client.signal });
  await begun;
  assert.equal(await left.creditsLeft(), 100 - FORECAST_TOKENS);
  client.abort();
  await assert.rejects(asked);
  while ((await left.creditsLeft()) !== 100) await nextTurn();
  assert.deepEqual(await imbalances(left.store), []);
  await left.app.close();
});

test('the RateLimit headers of an answer show what its key has left', async () => {
  const limited = await start({ callsPerMinute: 3, credits: 1_000 });
  const { headers } = await ask(limited.app, '/v2/forecast', FORECAST);
  assert.equal(headers['ratelimit-policy'], '"calls";q=3;w=60');
  assert.equal(headers.ratelimit, `"calls";r=2;t=10, "credits";r=${1_000 - FORECAST_TOKENS}`);
  await ask(limited.app, '/v2/forecast', FORECAST);
  assert.match(String((await ask(limited.app, '/v2/forecast', FORECAST)).headers.ratelimit), /^"calls";r=0;t=10, /);
  const refused = await ask(limited.app, '/v2/forecast', FORECAST);
  assert.deepEqual([refused.status, refused.headers.ratelimit], [429, '"calls";r=0;t=10']);
  const unlimited = await start({});
  assert.equal((await ask(unlimited.app, '/v2/forecast', FORECAST)).headers.ratelimit, undefined);
});

test('calls per minute and concurrent calls are limited, with Retry-After', async () => {
  const minute = await start({ callsPerMinute: 2 });
  for (let call = 0; call < 2; call++) assert.equal((await ask(minute.app, '/v2/forecast', FORECAST)).status, 200);
  const refused = await ask(minute.app, '/v2/forecast', FORECAST);
  assert.deepEqual([refused.status, refused.headers['retry-after'], refused.body.code], [429, '10', undefined]);
  assert.match(refused.body.detail, /2 calls a minute; try again in 10 s/);
  minute.clock.nowMs += 10_000;
  assert.equal((await ask(minute.app, '/v2/forecast', FORECAST)).status, 200);

  const { slow, begun, finish } = slowForecaster();
  const once = await start({ callsAtOnce: 1 }, slow);
  const first = ask(once.app, '/v2/forecast', { ...FORECAST, level: [80] });
  await begun;
  const second = await ask(once.app, '/v2/forecast', FORECAST);
  assert.deepEqual([second.status, second.headers['retry-after']], [429, '2']);
  assert.match(second.body.detail, /1 calls at once/);
  finish();
  assert.equal((await first).status, 200);
  assert.equal((await ask(once.app, '/v2/forecast', FORECAST)).status, 200);
});

test('a key sees and uses its own models; others get 403, unknown ones 422', async () => {
  const { app } = await start({ models: ['timegpt-2.1'] });
  const { models } = (await app.inject({ url: '/v2/models', headers: AUTHORIZED })).json();
  assert.deepEqual(models, [{ name: 'timegpt-2.1' }]);
  const statusWith = async (model: string) => (await ask(app, '/v2/forecast', { ...FORECAST, model })).status;
  assert.deepEqual([await statusWith('timegpt-2.1'), await statusWith('timegpt-1')], [200, 403]);
  assert.equal(await statusWith('unheard-of'), 422);
  for (const url of ['/v2/forecast', '/v2/anomaly_detection', '/v2/forecast/async', '/v2/finetune']) {
    const { status, body } = await ask(app, url, FORECAST);
    assert.equal(status, 403, url);
    assert.match(body.detail, /may not use the model tsmodel-1/);
  }
  const params = await app.inject({ url: '/model_params?freq=h&model=timegpt-1', headers: AUTHORIZED });
  assert.equal(params.statusCode, 403);
  const byRealName = await start({ models: ['tsmodel-1'] });
  assert.equal((await ask(byRealName.app, '/v2/forecast', { ...FORECAST, model: 'timegpt-1' })).status, 200);
});

test('a revoked or expired key gets 401', async () => {
  const { app, store, clock } = await start({ expiresAtMs: NOW + 60_000 });
  const status = async () => (await app.inject({ url: '/validate_api_key', headers: AUTHORIZED })).statusCode;
  assert.equal(await status(), 200);
  await revokeApiKey(store, KEY_ID, { nowMs: NOW, actor: 'operator' });
  clock.nowMs += KEY_CACHED_MS;
  assert.equal(await status(), 401);
  const other = await start({ expiresAtMs: NOW + 1 });
  other.clock.nowMs += 1;
  assert.equal((await other.app.inject({ url: '/usage', headers: AUTHORIZED })).statusCode, 401);
});

test('a call of a key that is revoked before its answer gets 401, and costs nothing', async () => {
  for (const limits of [{}, { credits: 1_000 }]) {
    const { slow, begun, finish } = slowForecaster();
    const world = await start(limits, slow);
    const asked = ask(world.app, '/v2/forecast', FORECAST);
    await begun;
    await revokeApiKey(world.store, KEY_ID, { nowMs: NOW, actor: 'operator' });
    finish();
    const { status, body } = await asked;
    assert.deepEqual([status, body.code, body.mean], [401, 'A12', undefined]);
    assert.equal(await world.creditsLeft(), limits.credits ?? null);
    assert.deepEqual(await world.store.query('SELECT * FROM usage_minutes WHERE tokens > 0'), []);
    assert.deepEqual(await imbalances(world.store), []);
  }
});

test('a job is charged when it succeeds and free when cancelled; both are audited', async () => {
  const { slow, finish } = slowForecaster();
  const world = await start({ credits: 1_000 }, slow);
  const submit = async () =>
    (await ask(world.app, '/v2/forecast/async', { ...FORECAST, level: [80] })).body.job_id as string;
  const [kept, cancelled] = [await submit(), await submit()];
  assert.equal(await world.creditsLeft(), 1_000 - 2 * 55);
  const cancel = `/v2/async/jobs/${cancelled}/cancel`;
  assert.equal((await world.app.inject({ method: 'POST', url: cancel, headers: AUTHORIZED })).statusCode, 200);
  finish();
  const job = async () => (await world.app.inject({ url: `/v2/forecast/jobs/${kept}`, headers: AUTHORIZED })).json();
  while ((await job()).status !== 'succeeded') await nextTurn();
  assert.equal(await world.creditsLeft(), 1_000 - 55);
  assert.deepEqual(await imbalances(world.store), []);
  const done = (await readAudit(world.store)).map(({ actor, action, subject }) => [actor, action, subject]);
  assert.deepEqual(done.slice(1), [
    [KEY_ID, 'job-submitted', kept],
    [KEY_ID, 'job-submitted', cancelled],
    [KEY_ID, 'job-cancelled', cancelled],
  ]);
});

test('an unavailable store gets 503, and the ledger balances afterwards', async () => {
  const world = await start({ credits: 100_000 });
  const [{ page_count: pages }] = await world.store.query<{ page_count: number }>('PRAGMA page_count');
  await world.store.query(`PRAGMA max_page_count = ${pages}`);
  const fill = `INSERT INTO audit_log (happened_at, actor, action, subject) VALUES (1, 'a', 'b', '${'x'.repeat(1_000)}')`;
  await assert.rejects(async () => {
    for (;;) await world.store.query(fill);
  });
  let full = 0;
  for (let call = 0; call < 300 && full < 5; call++) {
    const { status, headers, body } = await ask(world.app, '/v2/forecast', FORECAST);
    // Each minute of a key is a further row.
    world.clock.nowMs += 60_000;
    if (status === 200) continue;
    assert.deepEqual([status, typeof headers['retry-after'], typeof body.detail], [503, 'string', 'string']);
    full++;
  }
  assert.equal(full, 5);
  assert.deepEqual(await imbalances(world.store), []);
  await world.store.query('PRAGMA max_page_count = 100000');
  assert.equal((await ask(world.app, '/v2/forecast', FORECAST)).status, 200);
  assert.deepEqual(await imbalances(world.store), []);
  await world.store.close();
  world.clock.nowMs += KEY_CACHED_MS;
  const away = await world.app.inject({ url: '/validate_api_key', headers: AUTHORIZED });
  assert.deepEqual([away.statusCode, typeof away.headers['retry-after']], [503, 'string']);
  assert.equal((await world.app.inject({ url: '/health' })).statusCode, 200);
});
