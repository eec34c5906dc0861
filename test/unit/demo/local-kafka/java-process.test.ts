import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { startJava } from '../../../../src/demo/local-kafka/java-process.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

test('a start that takes long can be stopped', async () => {
  const folder = freshFolder();
  const java = join(folder, 'java');
  writeFileSync(java, '#!/bin/sh\necho $$\nexec sleep 600\n');
  chmodSync(java, 0o755);
  const { PATH } = process.env;
  process.env.PATH = [folder, PATH].join(delimiter);
  const stop = new AbortController();
  let pid = 0;
  const ready = (printed: string) => {
    pid = Number(printed);
    if (pid > 0) stop.abort();
    return false;
  };
  try {
    const server = { name: 'Java', args: [], cwd: folder, logFile: join(folder, 'log'), ready, stop: stop.signal };
    await assert.rejects(startJava(server), { name: 'AbortError' });
  } finally {
    process.env.PATH = PATH;
  }
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
