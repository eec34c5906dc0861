import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../fixture/command.ts';

test('a command that ran models had reports of ONNX Runtime in the home of its user, on their way to its maker', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tidewatch-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  assert.equal((await runCommand(['models'], { HOME: home })).exitCode, 0);
  assert.deepEqual(
    readdirSync(join(home, '.cache')),
    ['tidewatch'],
    'the identifier of a device and a queue of reports',
  );
});
