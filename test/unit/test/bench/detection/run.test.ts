import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { run } from '../../../../bench/detection/run.ts';

test('where labelled series and NAB are not there the bench says so and leaves their tables out', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-detection-'));
  const said = t.mock.method(console, 'log', () => {});
  assert.deepEqual(await run(['series', 'groups', 'promise', 'nab', '--no-rivals', '--data', folder]), {});
  assert.deepEqual(
    said.mock.calls.map(({ arguments: [line] }) => String(line).slice(0, 'Without labelled'.length)),
    ['Without labelled', 'Without NAB: the'],
  );
  await rm(folder, { recursive: true });
});
