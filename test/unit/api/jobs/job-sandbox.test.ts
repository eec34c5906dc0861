import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { JobOutcome, JobRun } from '../../../../src/api/jobs/job.ts';
import { JobSandbox, slotsOf, usableMemoryMb } from '../../../../src/api/jobs/job-sandbox.ts';
import { serveModels } from '../../../../src/api/models/served-models.ts';
import { tuneInProcess } from '../../../../src/api/models/tuned-models.ts';
import type { TaskName } from '../../../../src/api/wire/task-names.ts';
import { type ModelCatalog, openCatalog } from '../../../../src/models/catalog.ts';
import { Forecasters } from '../../../../src/models/onnx-forecaster.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { runHere } from '../../../fixture/http/job-service.ts';
import { writeModelFolder } from '../../../fixture/models/model-folder.ts';

const y = Array.from({ length: 120 }, (_, i) => (i === 50 ? null : 10 + Math.sin(i / 3) + ((i * 7919) % 13) / 20));
const BODY = { series: { y, sizes: [60, 60] }, freq: 'h', h: 5, level: [80, 99.5] };
const REQUESTS = {
  forecast: BODY,
  cross_validation: { ...BODY, n_windows: 2, model: 'timegpt-1' },
  anomaly_detection: { ...BODY, detection_size: 6, level: 99 },
} as const;
const SIGNAL = new AbortController().signal;
/** No test waits for it, on any machine. */
const LONG_MS = 600_000;

let dir: string;
let catalog: ModelCatalog;

before(async () => {
  dir = freshFolder();
  await mkdir(join(dir, 'none'));
  await writeModelFolder(join(dir, 'models'), 'tsmodel-1');
  catalog = await openCatalog({ modelsDir: join(dir, 'models'), pretrainedDir: join(dir, 'none') });
});

const jobOf = (body: object, changes: Partial<JobRun> = {}): JobRun => {
  const request = zstdCompressSync(JSON.stringify(body));
  return { task: 'forecast', request, timeoutMs: LONG_MS, signal: SIGNAL, ...changes };
};

function readable(outcome: JobOutcome) {
  if (outcome.kind !== 'answered') return outcome;
  return { ...outcome, result: JSON.parse(zstdDecompressSync(outcome.result).toString()) };
}

test('a container of 6 GiB on a machine of 256 had room for four jobs of 4 GiB', () => {
  const gib = 2 ** 30;
  const slots = (limitBytes: number) => slotsOf(64, usableMemoryMb(256 * gib, limitBytes), 4_096);
  assert.deepEqual([6 * gib, 16 * gib].map(slots), [1, 2]);
  // Without a limit, as Linux says it, and where it is not known.
  assert.deepEqual([2 ** 64, 0].map(slots), [4, 4]);
});

test('the sandbox answers a job as the process itself does', async (t) => {
  const sandbox = new JobSandbox(catalog);
  const forecasters = await Forecasters.start([catalog.get('tsmodel-1')], { threads: 1 });
  t.after(() => Promise.all([sandbox.close(), forecasters.close()]));
  const outside = runHere(serveModels(catalog, forecasters, tuneInProcess([])));
  for (const [task, body] of Object.entries(REQUESTS) as [keyof typeof REQUESTS, object][]) {
    const job = jobOf(body, { task });
    const outcome = readable(await sandbox.run(job));
    assert.equal(outcome.kind, 'answered', JSON.stringify(outcome));
    assert.deepEqual(outcome, readable(await outside.run(job)), task);
  }
});

test('the client sees the error of a failed job, the log its cause', async (t) => {
  const sandbox = new JobSandbox(catalog);
  t.after(() => sandbox.close());
  const unknown = await sandbox.run(jobOf({ ...BODY, model: 'gone-since' }));
  assert.ok(unknown.kind === 'failed');
  assert.match(unknown.error, /^body\.model: .*no such model/);
  const ours = await sandbox.run(jobOf(BODY, { task: 'of a later release' as TaskName }));
  assert.ok(ours.kind === 'failed');
  assert.match(ours.error, /^Internal error; the log/);
  assert.match(ours.cause ?? '', /^TypeError/);
});

test('a job that exceeds its time names the limit', async (t) => {
  const sandbox = new JobSandbox(catalog);
  t.after(() => sandbox.close());
  const body = { ...BODY, series: { y: new Array(50_000).fill(3), sizes: [50_000] }, detection_size: 6, step_size: 1 };
  const outcome = await sandbox.run(jobOf({ ...body, level: 99 }, { task: 'anomaly_detection', timeoutMs: 1 }));
  assert.deepEqual(outcome, { kind: 'failed', error: 'The job was stopped after 0.001 seconds, its limit' });
  assert.equal((await sandbox.run(jobOf(BODY))).kind, 'answered');
});

const noProc = existsSync('/proc/self/status') ? false : 'there is no /proc here';

test('a job that exceeds its memory names the limit', { skip: noProc }, async (t) => {
  const sandbox = new JobSandbox(catalog, { memoryMbMax: 20 });
  t.after(() => sandbox.close());
  const outcome = await sandbox.run(jobOf(BODY));
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.error, /more memory than allowed \(20 MiB\)/);
});
