import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning } from '../../fixture/running-process.ts';

const OWNER = fileURLToPath(new URL('../../fixture/sandbox-owner.ts', import.meta.url));

test('work that spins ends with the process that asked for it, however that ended', async (t) => {
  const owner = spawn(process.execPath, [OWNER], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => owner.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: owner.stdout }), 'line');
  owner.kill('SIGKILL');
  while (isRunning(Number(line))) await wait(20);
});
