import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { type JavaProcess, startJava } from '../../../../src/demo/local-kafka/java-process.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

/** Starts the script as if it were Java. */
async function startScript(
  script: string,
  options: { readonly ready: (printed: string) => boolean; readonly stop: AbortSignal },
): Promise<JavaProcess> {
  const folder = freshFolder();
  const java = join(folder, 'java');
  writeFileSync(java, `#!/bin/sh\n${script}\n`);
  chmodSync(java, 0o755);
  const { PATH } = process.env;
  process.env.PATH = [folder, PATH].join(delimiter);
  try {
    return await startJava({ name: 'Java', args: [], cwd: folder, logFile: join(folder, 'log'), ...options });
  } finally {
    process.env.PATH = PATH;
  }
}

test('a start that takes long can be stopped', async () => {
  const stop = new AbortController();
  let pid = 0;
  const ready = (printed: string) => {
    pid = Number(printed);
    if (pid > 0) stop.abort();
    return false;
  };
  await assert.rejects(startScript('echo $$\nexec sleep 600', { ready, stop: stop.signal }), { name: 'AbortError' });
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('a server that takes long to end is killed once nobody waits for it', async () => {
  const stop = new AbortController();
  const script = "trap '' TERM\necho $$\nwhile :; do sleep 1; done";
  let pid = 0;
  const ready = (printed: string) => {
    pid = Number(printed);
    return pid > 0;
  };
  const server = await startScript(script, { ready, stop: stop.signal });
  const ended = server.stop(600_000, stop.signal);
  stop.abort();
  await ended;
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
