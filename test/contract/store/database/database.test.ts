import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../../src/store/database/database.ts';
import { MIGRATIONS, migrate } from '../../../../src/store/database/migrations.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

const COUNT = 'SELECT COUNT(*) AS count FROM audit_log';

const note = (action: string) =>
  ['INSERT INTO audit_log (happened_at, actor, action, subject) VALUES ($1, $2, $3, $2)', [1, 'a', action]] as const;

const versionsTo = (last: number) => Array.from({ length: last }, (_, i) => ({ version: i + 1 }));

async function count(database: Database): Promise<number> {
  return (await database.query<{ count: number }>(COUNT))[0].count;
}

storeTest('numbers, texts, bytes and null round-trip', async (store) => {
  const database = await store.open();
  assert.equal(database.dialect, store.dialect);
  const text = "it's $1 — ünï";
  const bytes = new Uint8Array([0, 1, 128, 255]);
  const large = Number.MAX_SAFE_INTEGER;
  await database.query(
    `INSERT INTO jobs (id, task, owner, key_id, status, created_at, timeout_seconds, request, request_bytes, error)
      VALUES ($1, $2, $2, $1, $3, $4, $5, $6, 4, $7)`,
    ['fc-1', text, 'pending', large, 300n, bytes, null],
  );
  const rows = await database.query('SELECT id, task, owner, created_at, timeout_seconds, request, error FROM jobs');
  assert.deepEqual(rows, [
    { id: 'fc-1', task: text, owner: text, created_at: large, timeout_seconds: 300, request: bytes, error: null },
  ]);
  const [sum] = await database.query(
    'SELECT SUM(created_at) AS sum, $1 / 2 AS half FROM jobs WHERE created_at > $2',
    [7, 1],
  );
  assert.deepEqual(sum, { sum: large, half: 3 });
});

openedTest('a statement that ran before sees what a table became since', async (database) => {
  const all = () => database.query('SELECT * FROM growing');
  await database.query('CREATE TABLE growing (first INTEGER)');
  await database.query('INSERT INTO growing VALUES ($1)', [1]);
  assert.deepEqual(await all(), [{ first: 1 }]);
  await database.query('ALTER TABLE growing ADD COLUMN second INTEGER DEFAULT 2');
  assert.deepEqual(await all(), [{ first: 1, second: 2 }]);
});

openedTest('a transaction that throws changes nothing', async (database) => {
  const failure = new Error('no');
  const failed = database.transaction(async (sql) => {
    await sql.query(...note('lost'));
    throw failure;
  });
  await assert.rejects(failed, failure);
  assert.equal(await count(database), 0);
  const kept = await database.transaction(async (sql) => {
    await sql.query(...note('kept'));
    return 'kept';
  });
  assert.equal(kept, 'kept');
  assert.equal(await count(database), 1);
});

openedTest('a rejected statement fails alone', async (database) => {
  await assert.rejects(database.query('SELECT nonsense FROM audit_log'), { message: /nonsense/ });
  await assert.rejects(
    database.query(
      `INSERT INTO jobs (id, task, owner, key_id, status, created_at, timeout_seconds, request_bytes)
        VALUES ('j', 't', 'o', 'k', 'odd', 1, 1, 0)`,
    ),
    /check/i,
  );
  assert.equal(await count(database), 0);
});

storeTest('transactions do not see uncommitted changes', async (store) => {
  const [one, other] = [await store.open(), await store.open()];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: seen, resolve: see } = Promise.withResolvers<void>();
  const writing = one.transaction(async (sql) => {
    await sql.query(...note('half'));
    begin();
    await seen;
    await sql.query(...note('whole'));
  });
  await begun;
  assert.equal(await count(other), 0);
  see();
  await writing;
  assert.equal(await count(other), 2);
});

storeTest('concurrent writers of several processes lose no update', async (store) => {
  const databases = await Promise.all([store.open(), store.open(), store.open()]);
  const writes = Array.from({ length: 60 }, (_, i) =>
    databases[i % 3].transaction(async (sql) => {
      await sql.query(...note('one'));
      await sleep(i % 3);
      await sql.query(...note('two'));
    }),
  );
  await Promise.all(writes);
  assert.equal(await count(databases[0]), 120);
});

storeTest('processes that start together migrate once', async (store) => {
  const databases = await Promise.all(Array.from({ length: 5 }, () => store.open()));
  const versions = await databases[4].query('SELECT version FROM schema_version ORDER BY version');
  assert.deepEqual(versions, versionsTo(MIGRATIONS.length));
});

storeTest('a later release applies only new migrations and keeps data', async (store) => {
  const [database, other] = [await store.open(), await store.open()];
  await database.query(...note('before'));
  const next = [
    ...MIGRATIONS.map(() => () => assert.fail('this step was taken before')),
    () => ['ALTER TABLE audit_log ADD COLUMN place TEXT', `UPDATE audit_log SET place = 'here'`],
  ];
  await Promise.all([migrate(database, next), migrate(other, next)]);
  const rows = await database.query('SELECT action, place FROM audit_log');
  assert.deepEqual(rows, [{ action: 'before', place: 'here' }]);
  const versions = await database.query('SELECT version FROM schema_version ORDER BY version');
  assert.deepEqual(versions, versionsTo(next.length));
  const message = new RegExp(`version ${next.length} .* this release knows ${MIGRATIONS.length}:`);
  await assert.rejects(store.open(), { code: 'configuration', message });
});

openedTest('a failed migration changes nothing', async (database) => {
  const broken = [
    ...MIGRATIONS.map(() => () => []),
    () => ['ALTER TABLE audit_log ADD COLUMN place TEXT', 'INSERT INTO no_such_table VALUES (1)'],
  ];
  await assert.rejects(migrate(database, broken), /no_such_table/);
  const versions = await database.query('SELECT version FROM schema_version ORDER BY version');
  assert.deepEqual(versions, versionsTo(MIGRATIONS.length));
  await assert.rejects(database.query('SELECT place FROM audit_log'), /place/);
});
