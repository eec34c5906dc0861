import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from '../../../bench/quality.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

test('where the collections are not there the bench reports it and measures nothing', async (t) => {
  const folder = freshFolder();
  const said = t.mock.method(console, 'log', () => {});
  assert.deepEqual(await run(['--data', folder]), {});
  assert.match(String(said.mock.calls[0].arguments[0]), /^No data to measure on: .*--data\.$/);
});
