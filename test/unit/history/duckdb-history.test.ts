import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDuckdb } from '../../../src/history/duckdb-history.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

test('DuckDB has the memory that it was given, and two threads', async (t) => {
  const database = await openDuckdb(':memory:', { memoryMb: 96 });
  t.after(() => database.close());
  const settings = "SELECT current_setting('memory_limit') AS memory, current_setting('threads')::INT AS threads";
  assert.deepEqual(await database.read((sql) => sql.query(settings)), [{ memory: '96.0 MiB', threads: 2 }]);
});

test('whole numbers of a statement have 64 bits, as columns have: with 128 a sum over a million rows took seven times as long', async (t) => {
  const database = await openDuckdb(':memory:', { memoryMb: 96 });
  t.after(() => database.close());
  const types = 'SELECT typeof($1) AS whole, typeof($2) AS number, typeof($3) AS word, $4 IS NULL AS nothing';
  const [row] = await database.read((sql) => sql.query(types, [1, 0.5, 'one', null]));
  assert.deepEqual(row, { whole: 'BIGINT', number: 'DOUBLE', word: 'VARCHAR', nothing: true });
});

test('space is reclaimed later where a read began before the last write: maintenance failed, and the history seemed to be away', async (t) => {
  const folder = freshFolder();
  const database = await openDuckdb(join(folder, 'history.duckdb'), { memoryMb: 96 });
  t.after(() => database.close());
  await database.write((sql) => sql.query('CREATE TABLE counted AS SELECT range AS number FROM range(1_000)'));
  const meanwhile = await database.read(async (sql) => {
    await sql.query('SELECT SUM(number) FROM counted');
    await database.write((writing) => writing.query('UPDATE counted SET number = number + 1'));
    return database.reclaim();
  });
  assert.equal(meanwhile, false);
  assert.equal(await database.reclaim(), true);
});
