import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startCommand } from '../fixture/command.ts';
import { whyNoPython } from '../fixture/python.ts';
import { CLIENTS, pythonWithClient } from '../fixture/python-client.ts';

const run = promisify(execFile);
const EXAMPLES = readFileSync(new URL('../../src/http/README.md', import.meta.url), 'utf8');
const KEY = 'a-key-of-the-tests';

const blocks = (language: string) =>
  [...EXAMPLES.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code]) =>
    found === language ? [code!] : [],
  );
const shell = blocks('sh');
const data = shell.filter((code) => !code.startsWith('curl')).join('');
const commands = shell.filter((code) => code.startsWith('curl'));

/** `/v2/forecast` of an example that asks for it. */
const endpointOf = (command: string) => /"\$URL([^"?]+)/.exec(command)![1]!;

const curlThere = await run('curl', ['--version']).then(
  () => true,
  () => false,
);
const noCurl = curlThere ? '' : ' (needs curl)';
const noPython = await whyNoPython();
let env: Record<string, string | undefined> = {};
const service = startCommand(['serve'], {
  HTTP_PORT: '0',
  OPS_PORT: '0',
  INFERENCE_THREADS: '1',
  TIDEWATCH_API_KEY: KEY,
});

before(async () => {
  const started = () => service.out.find((line) => line.includes('"serving"'));
  await service.until(() => started() !== undefined);
  env = { ...process.env, URL: JSON.parse(started()!).url, TIDEWATCH_API_KEY: KEY };
});

after(async () => {
  service.interrupt();
  await service.exitCode;
});

async function answerOf(command: string) {
  const { stdout } = await run('sh', ['-euc', `${data}\n${command}`], { env, maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

for (const command of commands) {
  test(`the curl example of ${endpointOf(command)} is answered with success${noCurl}`, {
    skip: !curlThere,
  }, async () => {
    assert.equal(typeof (await answerOf(command)), 'object');
  });
}

test(`the example of online detection finds the value that is far off${noCurl}`, { skip: !curlThere }, async () => {
  const { idxs, anomaly } = await answerOf(commands.find((command) => command.includes('online'))!);
  assert.deepEqual(
    idxs.filter((_: number, i: number) => anomaly[i]),
    [95],
  );
});

test('every endpoint that answers at once has an example', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../schemas/openapi.json', import.meta.url), 'utf8'));
  const shown = new Set(commands.map(endpointOf));
  // What a probe and what an old client asks is nobody's example.
  const atOnce = Object.keys(paths).filter((path) => !/\/(?:async|jobs|finetune|finetuned_models)\b/.test(path));
  const unshown = atOnce.filter((path) => !shown.has(path));
  assert.deepEqual(unshown.sort(), ['/health', '/validate_token']);
});

const suffix = noPython === null ? '' : ` (${noPython})`;
test(`the example of the Python client runs to its end${suffix}`, { skip: noPython !== null }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-examples-'));
  try {
    const script = join(folder, 'example.py');
    await writeFile(script, blocks('python').join('\n'));
    await run(await pythonWithClient(CLIENTS[0]), [script], { env });
  } finally {
    await rm(folder, { recursive: true });
  }
});
