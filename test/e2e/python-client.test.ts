import assert from 'node:assert/strict';
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
import { CLIENTS, pythonWithClient, runPython, whyNoPython } from '../fixture/python-client.ts';

interface Check {
  readonly name: string;
  readonly problem: string | null;
}

const SCRIPT = fileURLToPath(new URL('python-client.py', import.meta.url));
const KEY = 'a-key-of-the-tests';
const skip = (await whyNoPython()) ?? false;
const suffix = skip === false ? '' : ` (${skip})`;
const ends: (() => Promise<unknown>)[] = [];
const checks = new Map<string, readonly Check[]>();

before(async () => {
  if (skip !== false) return;
  const url = await serve();
  for (const client of CLIENTS) {
    checks.set(client, await runPython<Check>(await pythonWithClient(client), SCRIPT, [url, KEY]));
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

const NAMES = [
  'validate_api_key',
  'usage',
  'list_models',
  'detect_anomalies',
  'detect_anomalies_of_a_frame_out_of_order',
  'detect_anomalies_online',
  'detect_anomalies_online_multivariate',
  'forecast_with_levels',
  'forecast_with_quantiles',
  'forecast_with_history',
  'forecast_of_cut_history_is_the_same',
  'forecast_with_exogenous_variables',
  'forecast_with_categorical_variables',
  'forecast_with_date_features',
  'cross_validation',
  'missing_values_are_sent_as_null',
  'large_bodies_travel_compressed_both_ways',
  'integer_time',
  'too_short_for_intervals',
  'asynchronous_jobs',
  'asynchronous_job_is_cancelled',
  'fine_tuning_is_refused_at_once',
];

for (const client of CLIENTS) {
  for (const name of NAMES) {
    test(`${client}: ${name.replaceAll('_', ' ')}${suffix}`, { skip }, () => {
      const check = checks.get(client)!.find((check) => check.name === name);
      assert.ok(check !== undefined, 'the check ran');
      assert.equal(check.problem, null, check.problem ?? '');
    });
  }

  test(`${client}: every check that ran is a test${suffix}`, { skip }, () => {
    assert.equal(checks.get(client)!.length, NAMES.length);
  });
}
