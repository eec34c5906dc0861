import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

test('a command that ran models had reports of ONNX Runtime in the home of its user, on their way to its maker', async () => {
  const home = freshFolder();
  assert.equal((await runCommand(['models'], { HOME: home })).exitCode, 0);
  assert.deepEqual(
    readdirSync(join(home, '.cache')),
    ['tidewatch'],
    'the identifier of a device and a queue of reports',
  );
});
