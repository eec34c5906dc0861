import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase, STORE_FILE } from '../../../../src/store/database/open-store.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

const open = (dataDir: string) => openDatabase({ dataDir, url: null });

test('a store makes its folder, with those above it', async () => {
  const dataDir = join(freshFolder(), 'a', 'b');
  await (await open(dataDir)).close();
  assert.ok(existsSync(join(dataDir, STORE_FILE)));
});

test('a folder or file that cannot be used is refused with its name and the remedy, and is not waited for', async () => {
  const folder = freshFolder();
  const of = (name: string, make: (path: string) => void) => {
    mkdirSync(join(folder, name));
    make(join(folder, name, STORE_FILE));
    return join(folder, name);
  };
  writeFileSync(join(folder, 'file'), '');
  const unusable = [
    join(folder, 'file', 'below'),
    of('pipe', (path) => execFileSync('mkfifo', [path])),
    of('device', (path) => symlinkSync('/dev/zero', path)),
    of('folder', (path) => mkdirSync(path)),
    // Node's own recursion makes such a folder for ever.
    ...(process.platform === 'linux' ? ['/proc/nobody/here', '/dev/fd/999999/x'] : []),
  ];
  for (const dataDir of unusable) {
    const told = await open(dataDir).then(
      () => 'opened',
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );
    assert.ok(told.startsWith(`configuration: ${dataDir}`) && told.includes('set DATA_DIR'), `${dataDir}: ${told}`);
  }
});
