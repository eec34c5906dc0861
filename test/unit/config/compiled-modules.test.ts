import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '../../fixture/command.ts';

test('modules are kept compiled, and a folder that cannot be written is no failure', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tidewatch-compiled-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal((await runCommand(['models', '--help'], { XDG_CACHE_HOME: folder })).exitCode, 0);
  const [version] = readdirSync(join(folder, 'tidewatch', 'compiled'));
  assert.ok(readdirSync(join(folder, 'tidewatch', 'compiled', version)).length > 10);
  assert.equal((await runCommand(['models', '--help'], { XDG_CACHE_HOME: '/dev/null' })).exitCode, 0);
});
