import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobExecutor, JobOutcome, JobRun } from '../../../../src/api/jobs/job.ts';
import { JOB_LIMITS } from '../../../../src/api/jobs/job-limits.ts';
import { JobRunner } from '../../../../src/api/jobs/job-runner.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { ServiceError } from '../../../../src/ops/service-error.ts';
import type { Database } from '../../../../src/store/database/database.ts';
import { openDatabase } from '../../../../src/store/database/open-store.ts';
import { cancelJob } from '../../../../src/store/jobs/job-cancel.ts';
import { claimJob } from '../../../../src/store/jobs/job-claim.ts';
import { findJob, submitJob } from '../../../../src/store/jobs/jobs.ts';
import { createApiKey } from '../../../../src/store/keys/api-keys.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { newKey } from '../../../fixture/store/new-key.ts';

const TOKENS = { input_tokens: 1, output_tokens: 2, finetune_tokens: 0 };
const ANSWER: JobOutcome = { kind: 'answered', result: new Uint8Array([7]), tokens: TOKENS };

type Run = (run: JobRun) => Promise<JobOutcome>;

async function world(t: TestContext, run: Run, slots = 1) {
  const dataDir = freshFolder();
  const database = await openDatabase({ dataDir, url: null });
  const store = { away: false };
  const look = () => {
    if (store.away) throw new ServiceError('store-unavailable', 'it is away', { retryable: true });
  };
  const reached: Database = {
    dialect: 'sqlite',
    async query(text, values) {
      look();
      return database.query(text, values);
    },
    async transaction(work) {
      look();
      return database.transaction(work);
    },
    close: () => database.close(),
  };
  await createApiKey(database, newKey('key'), 'operator');
  const succeeded: string[] = [];
  const logger = createLogger('info', {
    write(line) {
      const { msg, jobId, outcome, taken } = JSON.parse(line);
      if (msg === 'job' && outcome === 'answered' && taken) succeeded.push(jobId);
    },
  });
  const runnerOf = (executor: JobExecutor) =>
    new JobRunner({
      database: reached,
      executor,
      limits: { ...JOB_LIMITS, heartbeatMs: 2, pollMs: 2 },
      nowMs: Date.now,
      logger,
      holder: 'a',
    });
  const runner = runnerOf({ run, slots, close: async () => {} });
  t.after(async () => {
    await runner.close();
    await database.close();
  });
  const submit = async (id: string, owner = 'ann') => {
    const of = { id, task: 'forecast', owner, keyId: 'key', holdId: null, timeoutSeconds: 9 };
    const job = { ...of, createdAtMs: Date.now(), request: new Uint8Array(3) };
    await database.transaction((sql) => submitJob(sql, job, JOB_LIMITS.inFlight));
    runner.wake();
  };
  const jobOf = async (id: string) => (await findJob(database, { owner: 'ann', id }, Date.now()))!;
  const becomes = async (id: string, status: string) => {
    while ((await jobOf(id)).status !== status) await wait(2);
  };
  return { database, store, runner, submit, jobOf, becomes, succeeded };
}

/** Runs until it is stopped. */
function stuck() {
  const runs: JobRun[] = [];
  const run: Run = (of) => {
    runs.push(of);
    return new Promise((resolve) => of.signal.addEventListener('abort', () => resolve({ kind: 'stopped' })));
  };
  return { runs, run };
}

test('pending jobs run one after the other, each with its own time limit', async (t) => {
  const seen: number[] = [];
  const { submit, becomes, succeeded } = await world(t, async ({ timeoutMs }) => {
    seen.push(timeoutMs);
    return ANSWER;
  });
  for (const id of ['one', 'two']) await submit(id);
  await becomes('two', 'succeeded');
  assert.deepEqual(seen, [9_000, 9_000]);
  while (succeeded.length < 2) await wait(2);
  assert.deepEqual(succeeded, ['one', 'two']);
});

test('five long jobs of one owner do not hold up the job of another', async (t) => {
  const { promise: allStarted, resolve: start } = Promise.withResolvers<void>();
  const long: JobRun[] = [];
  const { runner, submit, succeeded } = await world(
    t,
    async (run) => {
      await allStarted;
      if (run.request.length > 0 && long.length === 0) {
        long.push(run);
        await new Promise((resolve) => run.signal.addEventListener('abort', resolve));
        return { kind: 'stopped' };
      }
      return ANSWER;
    },
    2,
  );
  for (let i = 0; i < 5; i++) await submit(`a${i}`);
  start();
  await submit('b0', 'bob');
  while (succeeded.length < 1) await wait(2);
  assert.deepEqual([succeeded, long.length], [['b0'], 1]);
  await submit('b1', 'bob');
  while (succeeded.length < 2) await wait(2);
  assert.deepEqual(succeeded, ['b0', 'b1']);
  await runner.close();
});

test('a bug of the executor fails only its own job', async (t) => {
  let runs = 0;
  const { submit, becomes, jobOf } = await world(t, async () => {
    if (runs++ === 0) throw new Error('a secret of the inside');
    return ANSWER;
  });
  for (const id of ['one', 'two']) await submit(id);
  await becomes('two', 'succeeded');
  assert.match((await jobOf('one')).error ?? '', /^Internal error/);
});

test('a run stops when another process cancels its job', async (t) => {
  const { runs, run } = stuck();
  const { database, submit, becomes } = await world(t, run);
  await submit('one');
  await becomes('one', 'running');
  await cancelJob(database, { owner: 'ann', id: 'one' }, { endedAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER });
  while (!runs[0]?.signal.aborted) await wait(2);
  await submit('two');
  await becomes('two', 'running');
});

test('a runner that shuts down releases its job for another runner', async (t) => {
  const { run } = stuck();
  const { database, runner, submit, becomes, jobOf } = await world(t, run);
  await submit('one');
  await becomes('one', 'running');
  await runner.close();
  assert.equal((await jobOf('one')).status, 'pending');
  const again = await claimJob(database, { holder: 'b', untilMs: 1, nowMs: 0 });
  assert.deepEqual([again?.id, again?.attempt], ['one', 2]);
});

test('a run survives an unavailable store, and its result is stored afterwards', async (t) => {
  const { promise, resolve } = Promise.withResolvers<JobOutcome>();
  const { store, submit, becomes, jobOf, succeeded } = await world(t, () => promise);
  await submit('one');
  await becomes('one', 'running');
  store.away = true;
  resolve(ANSWER);
  await wait(10);
  assert.equal((await jobOf('one')).status, 'running');
  assert.deepEqual(succeeded, []);
  store.away = false;
  await becomes('one', 'succeeded');
  await submit('two');
  await becomes('two', 'succeeded');
});
