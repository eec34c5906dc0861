import assert from 'node:assert/strict';
import { join } from 'node:path';
import { KEY_CACHED_MS } from '../../../src/api/accounts/keys/key-ring.ts';
import { Calls } from '../../../src/api/accounts/metering.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import type { Database, Sql } from '../../../src/store/database/database.ts';
import { openDatabase, STORE_FILE } from '../../../src/store/database/open-store.ts';
import { openSqlite } from '../../../src/store/database/sqlite-database.ts';
import { ask } from '../../fixture/http/ask.ts';
import { AUTHORIZED, quantileForecaster, startApp } from '../../fixture/http/http-service.ts';
import { postgresTest, sharedPostgres, sqliteTest } from '../../fixture/store/stores.ts';

const AWAY = { code: 'store-unavailable', retryable: true };
const note = (sql: Sql, detail = '') =>
  sql.query(`INSERT INTO audit_log (happened_at, actor, action, subject, detail) VALUES (1, 'a', 'b', 'c', $1)`, [
    detail,
  ]);

async function count(database: Database): Promise<number> {
  const rows = await database.query<{ count: number }>('SELECT COUNT(*) AS count FROM audit_log');
  return rows[0].count;
}

postgresTest('while the server is away that is reported, and afterwards everything is there', async (store) => {
  const database = await store.open();
  const postgres = await sharedPostgres();
  await note(database);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const half = database.transaction(async (sql) => {
    await note(sql);
    begin();
    await stopped;
    await note(sql);
  });
  await begun;
  await postgres.stop();
  stop();
  await assert.rejects(half, AWAY);
  await assert.rejects(note(database), AWAY);
  await assert.rejects(openDatabase(store.place), AWAY);
  await postgres.restart();
  await note(database);
  assert.equal(await count(database), 2);
});

postgresTest('over HTTP a store that is away is a 503 that is retryable, and /readyz reports it', async (store) => {
  const database = await store.open();
  const clock = { nowMs: 1_000 };
  const app = await startApp(quantileForecaster(), {
    store: database,
    key: { credits: 100 },
    nowMs: () => clock.nowMs,
  });
  const calls = new Calls(database, () => clock.nowMs, { logger: createLogger('silent') });
  assert.equal((await app.inject({ url: '/usage', headers: AUTHORIZED })).statusCode, 200);
  const postgres = await sharedPostgres();
  await postgres.stop();
  clock.nowMs += KEY_CACHED_MS;
  const forecast = { series: { y: [1, 2, 3, 4, 5, 6, 7, 8], sizes: [8] }, freq: 'h', h: 2 };
  const { status, headers, body } = await ask(app, '/v2/forecast', forecast);
  assert.deepEqual([status, headers['retry-after'], typeof body.detail], [503, '2', 'string']);
  assert.equal((await app.inject({ url: '/health' })).statusCode, 200);
  await calls.renew();
  assert.match(calls.trouble ?? '', /cannot be reached/);
  await postgres.restart();
  assert.equal((await ask(app, '/v2/forecast', forecast)).status, 200);
  await calls.renew();
  assert.equal(calls.trouble, null);
  calls.close();
  await app.close();
});

sqliteTest('a full disk refuses writes, damages nothing, and ends once there is space again', async (store) => {
  const database = await store.open();
  await note(database);
  const [{ page_count: pages }] = await database.query<{ page_count: number }>('PRAGMA page_count');
  await database.query(`PRAGMA max_page_count = ${pages + 2}`);
  const large = 'x'.repeat(100_000);
  await assert.rejects(note(database, large), AWAY);
  const half = database.transaction(async (sql) => {
    await note(sql);
    await note(sql, large);
  });
  await assert.rejects(half, { ...AWAY, message: /disk is full/ });
  assert.equal(await count(database), 1);
  await database.query('PRAGMA max_page_count = 1000000');
  await note(database, large);
  assert.equal(await count(database), 2);
  assert.deepEqual(await database.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
});

sqliteTest('a file that another process holds is waited for, and then given up', async (store) => {
  const one = await store.open();
  const other = await openSqlite(join(store.place.dataDir, STORE_FILE), { busyMsMax: 20 });
  await one.transaction(async () => {
    await assert.rejects(note(other), { ...AWAY, message: /another process/ });
  });
  await note(other);
  await other.close();
  assert.equal(await count(one), 1);
});
