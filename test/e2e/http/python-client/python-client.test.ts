import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { startHttpServer } from '../../../../src/api/http/server.ts';
import { serveModels } from '../../../../src/api/models/served-models.ts';
import { tuneInSandbox } from '../../../../src/api/models/tuned-models.ts';
import { openCatalog } from '../../../../src/models/catalog.ts';
import { Forecasters } from '../../../../src/models/onnx-forecaster.ts';
import { Tuner } from '../../../../src/models/tuning/tuner.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { createMetrics } from '../../../../src/ops/metrics.ts';
import { testWithClients } from '../../../fixture/http/client-checks.ts';
import { jobsOfCatalog } from '../../../fixture/http/job-service.ts';
import { writeModelFolder } from '../../../fixture/models/model-folder.ts';
import { memoryAccounts } from '../../../fixture/store/memory-store.ts';

const FOLDER = new URL('./', import.meta.url);
/** Those with the checks. */
const FILES = ['with_pandas.py', 'with_polars.py'].map((file) => new URL(file, FOLDER));
const KEY = 'the-key-that-the-tests-use';
const ends: (() => Promise<unknown>)[] = [];

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
    models: serveModels(catalog, forecasters, tuneInSandbox(tuner)),
    operations: null,
    jobs: jobsOfCatalog(catalog, accounts.store, accounts.finetuned),
    nowMs: Date.now,
    logger: createLogger('silent'),
    metrics: createMetrics({ collectProcess: false }),
  });
  ends.push(() => server.close(1_000));
  return server.url;
}

await testWithClients(new URL('main.py', FOLDER), FILES, KEY, serve);
