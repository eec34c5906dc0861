import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDuckdb } from '../../../src/history/duckdb-history.ts';

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
