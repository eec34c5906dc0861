import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Database, Sql } from '../../src/store/database.ts';
import { openDatabase, STORE_FILE } from '../../src/store/open-store.ts';
import { openSqlite } from '../../src/store/sqlite-database.ts';
import { postgresTest, sharedPostgres, sqliteTest } from '../fixture/stores.ts';

const AWAY = { code: 'store-unavailable', retryable: true };
const note = (sql: Sql, detail = '') =>
  sql.query(`INSERT INTO audit_log (happened_at, actor, action, subject, detail) VALUES (1, 'a', 'b', 'c', $1)`, [
    detail,
  ]);

async function count(database: Database): Promise<number> {
  const rows = await database.query<{ count: number }>('SELECT COUNT(*) AS count FROM audit_log');
  return rows[0].count;
}

postgresTest('while the server is away this is said, and afterwards everything is there', async (store) => {
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

sqliteTest(
  'a full disk refuses what needs room, damages nothing, and is forgotten when there is room again',
  async (store) => {
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
  },
);

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
