import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../../../bench/quality.ts';

test('where the collections are not there the bench reports it and measures nothing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-quality-'));
  const said = t.mock.method(console, 'log', () => {});
  assert.deepEqual(await run(['--data', folder]), {});
  assert.match(String(said.mock.calls[0].arguments[0]), /^No data to measure on: .*--data\.$/);
  await rm(folder, { recursive: true });
});
