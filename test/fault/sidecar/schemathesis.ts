/**
 * Sends the HTTP interface whatever its own description allows and forbids, until `REQUESTS` requests (20,000 unless
 * said otherwise) were answered: `node test/fault/sidecar/schemathesis.ts`. It ends with 1 when a check fails, when
 * anything is answered with a 5xx other than 503, or with a status that the description does not know. Not part of `npm
 * test`: it takes long, and fetches Schemathesis from PyPI.
 *
 * All its checks are on. What a description cannot say (`sizes` adds up to the length of `y`) is put right by
 * schemathesis_hooks.py in requests that are meant to be accepted; these also tune little, as it takes long. Fields and
 * query parameters that nobody knows are no reason to refuse: the contract has them ignored, but in `job_options`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { pythonWith } from '../../fixture/http/python.ts';

const PACKAGES = ['schemathesis==4.32.5'];
const KEY = 'the-key-that-the-tests-use';
const requestsMin = Number(process.env.REQUESTS ?? 20_000);
/** Examples for each endpoint in a round; another round, with another seed, follows until there are enough requests. */
const examples = Number(process.env.EXAMPLES ?? 500);
const roundsMax = 100;

interface Service {
  readonly url: string;
  readonly ops: string;
  stop(): Promise<unknown>;
}

async function startService(): Promise<Service> {
  const main = join(import.meta.dirname, '../../../src/main.ts');
  const dataDir = freshFolder();
  const ports = { HTTP_PORT: '0', OPS_PORT: '0', INFERENCE_THREADS: '1' };
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, TIDEWATCH_API_KEY: KEY, ...ports };
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const { promise: serving, resolve } = Promise.withResolvers<{ url: string; ops: string }>();
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said === '' || !said.includes('"serving"')) said += text;
    const line = said.split('\n').find((line) => line.includes('"serving"') && line.endsWith('}'));
    if (line !== undefined) resolve(JSON.parse(line));
  });
  const ended = closed.then(() => Promise.reject(new Error(`the service ended: ${said}`)));
  const { url, ops } = await Promise.race([serving, ended]);
  ended.catch(() => undefined);
  return {
    url,
    ops,
    stop() {
      child.kill('SIGINT');
      return closed;
    },
  };
}

/** Requests answered so far, by status; read from the service itself. */
async function answered(ops: string): Promise<Map<number, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text();
  const byStatus = new Map<number, number>();
  for (const [, status, count] of text.matchAll(/^tidewatch_http_requests_total\{.*status="(\d+)".*\} (\d+)$/gm)) {
    byStatus.set(Number(status), (byStatus.get(Number(status)) ?? 0) + Number(count));
  }
  return byStatus;
}

async function round(python: string, url: string, seed: number, folder: string): Promise<number> {
  const args = ['-m', 'schemathesis.cli', 'run', `${url}/openapi.json`, '-H', `Authorization: Bearer ${KEY}`];
  args.push('--seed', String(seed), '-c', 'all', '-n', String(examples), '--continue-on-failure');
  args.push('--suppress-health-check', 'all', '--warnings', 'off');
  const hooks = {
    PYTHONPATH: import.meta.dirname,
    PYTHONDONTWRITEBYTECODE: '1',
    SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
  };
  // In a folder of its own: it keeps a data base of examples where it runs.
  const child = spawn(python, args, { cwd: folder, env: { ...process.env, ...hooks }, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return code;
}

const python = await pythonWith(PACKAGES);
const folder = freshFolder();
const service = await startService();
let failedRounds = 0;
let byStatus = new Map<number, number>();
const requests = () => [...byStatus.values()].reduce((sum, count) => sum + count, 0);
try {
  for (let seed = 1; seed <= roundsMax && requests() < requestsMin; seed++) {
    if ((await round(python, service.url, seed, folder)) !== 0) failedRounds++;
    byStatus = await answered(service.ops);
  }
} finally {
  await service.stop();
}
const failures = [...byStatus].filter(([status]) => status >= 500 && status !== 503);
console.log(
  `${requests()} requests, by status: ${JSON.stringify(Object.fromEntries(byStatus))}; ${failedRounds} rounds failed`,
);
if (failedRounds > 0 || failures.length > 0 || requests() < requestsMin) process.exitCode = 1;
