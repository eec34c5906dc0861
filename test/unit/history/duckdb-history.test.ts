import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDuckdb } from '../../../src/history/duckdb-history.ts';

test('DuckDB has the memory that it was given, and two threads', async (t) => {
  const database = await openDuckdb(':memory:', { memoryMb: 96 });
  t.after(() => database.close());
  const settings = "SELECT current_setting('memory_limit') AS memory, current_setting('threads')::INT AS threads";
  assert.deepEqual(await database.read((sql) => sql.query(settings)), [{ memory: '96.0 MiB', threads: 2 }]);
});
