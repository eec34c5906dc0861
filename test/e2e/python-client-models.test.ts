import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type RunningCommand, startCommand } from '../fixture/command.ts';
import { CLIENTS, pythonWith, runPython, whyNoPython } from '../fixture/python.ts';
import { freshFolder } from '../fixture/served.ts';

interface Check {
  readonly name: string;
  readonly problem: string | null;
}

const SCRIPT = fileURLToPath(new URL('python-client/with_shipped_models.py', import.meta.url));
const NAMES = [...readFileSync(SCRIPT, 'utf8').matchAll(/^@check\ndef (\w+)/gm)].map(([, name]) => name!);
const KEY = 'a-key-of-the-tests';
const skip = (await whyNoPython()) ?? false;
const suffix = skip === false ? '' : ` (${skip})`;
const checks = new Map<string, readonly Check[]>();
const folder = await freshFolder();
let service: RunningCommand | null = null;

before(async () => {
  if (skip !== false) return;
  const env = { DATA_DIR: folder, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1', TIDEWATCH_API_KEY: KEY };
  const running = startCommand(['serve'], env);
  service = running;
  const started = () => running.out.find((line) => line.includes('"serving"'));
  await running.until(() => started() !== undefined);
  const { url } = JSON.parse(started()!);
  for (const [client, packages] of Object.entries(CLIENTS)) {
    checks.set(client, await runPython<Check>(await pythonWith(packages), SCRIPT, [url, KEY]));
  }
});

after(async () => {
  service?.interrupt();
  await service?.exitCode;
});

for (const client of Object.keys(CLIENTS)) {
  for (const name of NAMES) {
    test(`${client}: ${name.replaceAll('_', ' ')}${suffix}`, { skip }, () => {
      const check = checks.get(client)!.find((check) => check.name === name);
      assert.ok(check !== undefined, 'the check ran');
      assert.ok(check.problem === null, check.problem ?? '');
    });
  }
}
