import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tuneWith } from '../../src/http/finetuned.ts';
import { serveModels } from '../../src/http/served-models.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/forecaster.ts';
import { Tuner } from '../../src/model/tuning/tuner.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { jobsOfCatalog } from '../fixture/job-service.ts';
import { memoryAccounts } from '../fixture/memory-store.ts';
import { writeModelFolder } from '../fixture/model-folder.ts';
import { CLIENTS, pythonWith, runPython, whyNoPython } from '../fixture/python.ts';

interface Check {
  readonly name: string;
  readonly problem: string | null;
}

const FOLDER = new URL('python-client/', import.meta.url);
const SCRIPT = fileURLToPath(new URL('main.py', FOLDER));
/** Every function that is marked as a check in the files with them. */
const NAMES = ['with_pandas.py', 'with_polars.py'].flatMap((file) =>
  [...readFileSync(new URL(file, FOLDER), 'utf8').matchAll(/^@check\ndef (\w+)/gm)].map(([, name]) => name),
);
const KEY = 'a-key-of-the-tests';
const skip = (await whyNoPython()) ?? false;
const suffix = skip === false ? '' : ` (${skip})`;
const ends: (() => Promise<unknown>)[] = [];
const checks = new Map<string, readonly Check[]>();

before(async () => {
  if (skip !== false) return;
  const url = await serve();
  for (const [client, packages] of Object.entries(CLIENTS)) {
    checks.set(client, await runPython<Check>(await pythonWith(packages), SCRIPT, [url, KEY]));
  }
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});

/** The service as `serve` starts it, on a model small enough for a test. */
async function serve(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tidewatch-http-'));
  ends.push(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, 'none'));
  await writeModelFolder(join(dir, 'models'), 'tsmodel-1');
  const catalog = await openCatalog({ modelsDir: join(dir, 'models'), pretrainedDir: join(dir, 'none') });
  const forecasters = await Forecasters.start([catalog.get('tsmodel-1')], { threads: 1 });
  ends.push(() => forecasters.close());
  const tuner = new Tuner([catalog.get('tsmodel-1')]);
  ends.push(() => tuner.close());
  const accounts = await memoryAccounts({ secret: KEY });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    ...accounts,
    models: serveModels(catalog, forecasters, tuneWith(tuner)),
    jobs: jobsOfCatalog(catalog, accounts.store, accounts.finetuned),
    nowMs: Date.now,
    logger: createLogger('silent'),
    metrics: createMetrics({ collectProcess: false }),
  });
  ends.push(() => server.close(1_000));
  return server.url;
}

for (const client of Object.keys(CLIENTS)) {
  for (const name of NAMES) {
    test(`${client}: ${name.replaceAll('_', ' ')}${suffix}`, { skip }, () => {
      const check = checks.get(client)!.find((check) => check.name === name);
      assert.ok(check !== undefined, 'the check ran');
      assert.ok(check.problem === null, check.problem ?? '');
    });
  }

  test(`${client}: every check that ran is a test${suffix}`, { skip }, () => {
    assert.equal(checks.get(client)!.length, NAMES.length);
  });
}
