import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { exampleVariables } from '../../fixture/http/example-variables.ts';
import { CLIENTS, pythonWith, whyNoPython } from '../../fixture/http/python.ts';

const run = promisify(execFile);
const EXAMPLES = readFileSync(new URL('../../../src/api/README.md', import.meta.url), 'utf8');
const KEY = 'the-key-that-the-tests-use';

const blocks = (language: string) =>
  [...EXAMPLES.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, code]) =>
    found === language ? [code!] : [],
  );
const shell = blocks('sh');

/** Of `curl ... "$URL/v2/async/jobs/$JOB/cancel"`: `POST /v2/async/jobs/$JOB/cancel`. */
function requestsOf(code: string): string[] {
  return [...code.matchAll(/\bcurl\b([^"]*)"\$URL([^"?]+)((?:(?!\bcurl\b)[^|])*)/g)].map(([, before, path, after]) => {
    const method = /-X (\w+)/.exec(before!)?.[1] ?? (/-d ["']/.test(after!) ? 'POST' : 'GET');
    return `${method} ${path}`;
  });
}

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

/** What each block of commands printed; those after one that failed did not. */
const printed: string[] = [];
let folder = '';

before(async () => {
  env = exampleVariables((await service.logged('serving')).url, KEY);
  folder = freshFolder();
  if (!curlThere) return;
  const script = shell.map((code, i) => `{\n${code}} > ${join(folder, String(i))}\n`).join('');
  await run('sh', ['-euc', script], { env }).catch((error) => console.error(error.stderr));
  for (const i of shell.keys()) printed.push(await readFile(join(folder, String(i)), 'utf8').catch(() => 'not run'));
});

after(async () => {
  service.interrupt();
  await service.exitCode;
});

/** The answers that a block printed, one after the other. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many endpoints
const answersOf = (text: string): any[] => JSON.parse(`[${text.replaceAll(/([}\]])(?=[{[])/g, '$1,')}]`);

for (const [i, code] of shell.entries()) {
  const name = requestsOf(code).join(', ') || code.split('=', 1)[0];
  test(`the example of ${name} prints an answer, or nothing${noCurl}`, { skip: !curlThere }, () => {
    assert.ok(answersOf(printed[i]).every((answer) => typeof answer === 'object'));
  });
}

test(`online detection finds the value that is far off, at once and as a job${noCurl}`, { skip: !curlThere }, () => {
  const answers = printed
    .flatMap(answersOf)
    .filter(({ idxs, result }) => idxs !== undefined || result?.idxs !== undefined);
  const [atOnce] = answers;
  const job = answers.find(({ status }) => status !== undefined);
  assert.equal(job.status, 'succeeded');
  assert.deepEqual(job.result, atOnce);
  const actual = atOnce.idxs.filter((_: number, i: number) => atOnce.anomaly[i]);
  assert.deepEqual(actual, [95]);
});

test('every endpoint has an example', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../../schemas/openapi.json', import.meta.url), 'utf8'));
  // Those of what was scored, and of points, run where there is a Kafka.
  const shown = [...shell, ...blocks('bash'), ...blocks('shell')].flatMap(requestsOf);
  const unshown = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .map((method) => `${method.toUpperCase()} ${path}`)
      .filter((endpoint) => {
        const pattern = new RegExp(`^${endpoint.replace('{id}', '[$\\w-]+')}$`);
        return !shown.some((request) => pattern.test(request));
      }),
  );
  assert.deepEqual(unshown, []);
});

const suffix = noPython === null ? '' : ` (${noPython})`;
test(`the example of the README runs as it is written, on the newest client and an old one${suffix}`, {
  skip: noPython !== null,
}, async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, code] = /^```python\n([\s\S]*?)^```$/m.exec(readme)!;
  assert.equal(code.trim().split('\n').length, 8);
  const script = join(folder, 'readme.py');
  await writeFile(script, code.replace('http://127.0.0.1:8080', env.URL!));
  for (const client of ['nixtla==0.9.0', 'nixtla==0.6.6']) {
    const { stdout } = await run(await pythonWith(CLIENTS[client]), [script], { env });
    assert.match(stdout, /^\d+ +web 2026-01-25 23:00:00.*\n\n\[1 rows/m, client);
  }
});

test(`the example of the Python client runs to its end${suffix}`, { skip: noPython !== null }, async () => {
  const script = join(folder, 'example.py');
  await writeFile(script, blocks('python').join('\n'));
  await run(await pythonWith(CLIENTS['nixtla==0.9.0']), [script], { env });
});
