import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

test('modules are kept compiled, and a folder that cannot be written is no failure', async () => {
  const folder = freshFolder();
  assert.equal((await runCommand(['models', '--help'], { XDG_CACHE_HOME: folder })).exitCode, 0);
  const [version] = readdirSync(join(folder, 'tidewatch', 'compiled'));
  assert.ok(readdirSync(join(folder, 'tidewatch', 'compiled', version)).length > 10);
  assert.equal((await runCommand(['models', '--help'], { XDG_CACHE_HOME: '/dev/null' })).exitCode, 0);
});

test('a command that ran models had reports of ONNX Runtime in the home of its user, on their way to its maker', async () => {
  const home = freshFolder();
  assert.equal((await runCommand(['models'], { HOME: home })).exitCode, 0);
  assert.deepEqual(
    readdirSync(join(home, '.cache')),
    ['tidewatch'],
    'the identifier of a device and a queue of reports',
  );
});
