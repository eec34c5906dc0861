/** What `npm pack` makes works without the repository, for a user with an empty home; its licences and its parts. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { thirdParties } from '../../../deploy/package/licences.ts';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { startCommand } from '../../fixture/command.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const folder = await mkdtemp(join(tmpdir(), 'tidewatch päckage '));

after(() => rm(folder, { recursive: true, force: true }));

/** Installs the package into an empty folder, without install scripts, and returns the path of its launcher. */
async function install(): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  await writeFile(join(folder, 'package.json'), '{}');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, join(folder, filename)], { cwd: folder });
  return join(folder, 'node_modules/.bin/tidewatch');
}

const CSV = ['series,timestamp,value'].concat(
  Array.from({ length: 400 }, (_, i) => {
    const value = 100 + 10 * Math.sin(i / 10) + (i === 350 ? 80 : 0);
    return `a,${new Date(1_700_000_100_000 + i * 300_000).toISOString()},${value.toFixed(3)}`;
  }),
);

const env = {
  HOME: join(folder, 'home'),
  XDG_CACHE_HOME: dirname(cacheFolder()),
  OPS_PORT: '0',
  HTTP_PORT: '0',
  INFERENCE_THREADS: '1',
};
const launcher = await install();

test('an installed package scores a CSV file, and the clone stays without a build', async () => {
  await writeFile(join(folder, 'a.csv'), `${CSV.join('\n')}\n`);
  const backtest = startCommand(['backtest', join(folder, 'a.csv'), '--freq', '5min'], env, '', launcher);
  assert.equal(await backtest.exitCode, 0);
  assert.match(backtest.err.join('\n'), /^a: 400 observations, \d+ scored, \d+ anomalies, 1 event/m);
  await assert.rejects(access(join(ROOT, 'lib')));
  await access(join(folder, 'node_modules/tidewatch/deploy/book/running.md'));
});

test('an installed package comes without the cloud clients of the schema registry, which are never loaded', async () => {
  const packages = await readdir(join(folder, 'node_modules'));
  const clouds = packages.filter((name) => /^@(aws-sdk|azure|google-cloud)$/.test(name));
  assert.deepEqual(clouds, []);
});

test('SIGTERM to npx ends the service that it started', async (t) => {
  const npx = spawn('npx', ['--no-install', 'tidewatch', 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH, DATA_DIR: join(folder, 'served'), ...env },
    detached: true, // a group of processes, which a failed test kills as a whole
  });
  let served = false;
  createInterface({ input: npx.stdout }).on('line', (line) => {
    served ||= line.includes('"serving"');
  });
  let ended = false; // the service holds the pipe open for as long as it lives
  npx.once('close', () => {
    ended = true;
  });
  npx.stderr.resume();
  t.after(() => !ended && process.kill(-npx.pid!, 'SIGKILL'));
  await until('the service listens', () => served);
  npx.kill('SIGTERM');
  await until('the service has ended', () => ended);
});

kafkaTest('an installed package starts the demo, serves the console, and runs programs in the sandbox', async () => {
  const demo = startCommand(['start'], env, '', launcher);
  await demo.until(() => demo.out.some((line) => /KAFKA_BROKERS=\S+ tidewatch watch/.test(line)));
  const tried = /^Try: curl -H "Authorization: Bearer (\S+)" (\S+)\/validate_api_key$/m;
  const [, key, url] = tried.exec(demo.out.join('\n'))!;
  const page = await (await fetch(`${url}/console`)).text();
  const [, script] = /<script type="module" src="([^"]+)"/.exec(page)!;
  assert.equal((await fetch(new URL(script, url))).status, 200);
  await assert.rejects(run('grep', ['-rF', 'npm start', '--include=*.js', join(folder, 'node_modules/tidewatch/lib')]));
  const answer = await fetch(`${url}/v1/backtest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a.csv', csv: CSV.join('\n'), h: 12, detection_size: 12 }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  demo.interrupt();
  assert.deepEqual([await demo.exitCode, demo.err], [0, []]);
});

const cwd = join(import.meta.dirname, '../../..');
const script = async (name: string) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', name], { cwd, maxBuffer: 2 ** 26 });
  return stdout;
};

test('the file of licences names every package that runs, with texts, and none of the tools of developers', async () => {
  const written = await script('licences');
  const [names] = written.split('\n---');
  for (const { name, licence } of thirdParties()) assert.ok(names.includes(`${name}: ${licence}\n`), name);
  assert.ok(!names.includes('@biomejs/biome'));
  assert.match(written, /Copyright \(c\) \d+-present The Fastify team/);
});

test('the bill of materials is CycloneDX, and has what runs with its licences', async () => {
  const bill = JSON.parse(await script('sbom')) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string; readonly licenses?: readonly unknown[] }[];
  };
  assert.equal(bill.bomFormat, 'CycloneDX');
  const named = new Map(bill.components.map((component) => [component.name, component]));
  for (const name of ['fastify', 'kafkajs', 'openid-client', 'onnxruntime-node']) {
    assert.ok((named.get(name)?.licenses ?? []).length > 0, name);
  }
  assert.ok(!named.has('@biomejs/biome') && !named.has('typescript'));
});
