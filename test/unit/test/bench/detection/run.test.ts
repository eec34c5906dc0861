import assert from 'node:assert/strict';
import test from 'node:test';
import { run } from '../../../../bench/detection/run.ts';
import { freshFolder } from '../../../../fixture/fresh-folder.ts';

test('without labelled series and NAB the bench reports that and leaves their tables out', async (t) => {
  const folder = freshFolder();
  const said = t.mock.method(console, 'log', () => {});
  assert.deepEqual(await run(['series', 'groups', 'promise', 'nab', '--no-rivals', '--data', folder]), {});
  assert.deepEqual(
    said.mock.calls.map(({ arguments: [line] }) => String(line).slice(0, 'Without labelled'.length)),
    ['Without labelled', 'Without NAB: the'],
  );
});
