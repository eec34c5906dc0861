import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { countTokens } from '../../../../src/api/accounts/service-metrics.ts';
import type { JobExecutor, JobOutcome, JobRun } from '../../../../src/api/jobs/job.ts';
import { countJobs } from '../../../../src/api/jobs/job-metrics.ts';
import { JobQueue } from '../../../../src/api/jobs/job-queue.ts';
import { HttpProblem } from '../../../../src/api/wire/problem.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import { createMetrics } from '../../../../src/ops/metrics.ts';
import type { Database } from '../../../../src/store/database/database.ts';
import { jobBacklog } from '../../../../src/store/jobs/jobs.ts';
import { createApiKey, findKeyById, revokeApiKey } from '../../../../src/store/keys/api-keys.ts';
import { imbalances } from '../../../fixture/store/ledger.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { storeTest, type TestStore } from '../../../fixture/store/stores.ts';

const TOKENS = { input_tokens: 7, output_tokens: 0, finetune_tokens: 0 };
const result = new Uint8Array([1]);
const ANSWER = { kind: 'answered', result, tokens: TOKENS } as const;

/** A queue whose runs end as the test says, and the credits of its key. */
async function world(store: TestStore, t: TestContext) {
  const database = await store.open();
  await createApiKey(database, newKey('ann', { credits: 100 }), 'operator');
  const key = (await findKeyById(database, 'ann'))!;
  const runs: { readonly run: JobRun; end(outcome: JobOutcome): void }[] = [];
  const executor: JobExecutor = {
    run: (run) => {
      const { promise, resolve: end } = Promise.withResolvers<JobOutcome>();
      runs.push({ run, end });
      run.signal.addEventListener('abort', () => end({ kind: 'stopped' }));
      return promise;
    },
    close: async () => {},
  };
  const limits = { heartbeatMs: 5, pollMs: 5 };
  const metrics = createMetrics({ collectProcess: false });
  const observe = countJobs(metrics, countTokens(metrics));
  const logger = createLogger('silent');
  const queueOn = (database: Database) => {
    return new JobQueue({ database, executor, nowMs: Date.now, logger, limits, observe });
  };
  const queue = queueOn(database);
  t.after(() => queue.close());
  const caller = { key, requestId: 'r' };
  const submit = () => queue.submit({ task: 'finetune', caller, tokens: TOKENS, body: result, timeoutSeconds: 300 });
  const jobOf = async (id: string) => (await queue.find('ann', id))!;
  const credits = async () => (await findKeyById(database, 'ann'))!.credits;
  return { database, queueOn, queue, caller, runs, submit, jobOf, credits, metrics };
}

const started = async (runs: readonly unknown[], count = 1) => {
  while (runs.length < count) await wait(2);
};

const noteOf = (database: Database) => database.query('SELECT * FROM audit_log WHERE action = $1', ['effect']);
const NOTE = "INSERT INTO audit_log (happened_at, actor, action, subject) VALUES (1, 'a', 'effect', 's')";

storeTest('a cancel that arrives before the result is stored always wins', async (store, t) => {
  const { database, queue, caller, runs, submit, jobOf } = await world(store, t);
  const id = await submit();
  await started(runs);
  let cancelled = null as Promise<boolean> | null;
  // It arrives inside the transaction that stores the result.
  const commit = async () => {
    cancelled ??= queue.cancel(caller, id);
  };
  runs[0].end({ ...ANSWER, effect: { commit, discard: async () => {} } });
  while (cancelled === null) await wait(2);
  assert.equal(await cancelled, true);
  assert.equal((await jobOf(id)).status, 'cancelled');
  assert.deepEqual(await imbalances(database), []);
});

storeTest('a cancel of somebody else does not hold up a result', async (store, t) => {
  const { queue, caller, runs, submit, jobOf } = await world(store, t);
  const id = await submit();
  await started(runs);
  const stranger = { ...caller, key: { ...caller.key, owner: 'bob' } };
  const refused = queue.cancel(stranger, id);
  runs[0].end(ANSWER);
  assert.equal(await refused, false);
  while ((await jobOf(id)).status !== 'succeeded') await wait(2);
});

storeTest('a model is stored and its call settled in one transaction, or neither', async (store, t) => {
  const { database, runs, submit, jobOf, credits } = await world(store, t);
  let discarded = 0;
  const discard = async () => void discarded++;
  const stored = await submit();
  await started(runs);
  runs[0].end({ ...ANSWER, effect: { commit: async (sql) => void (await sql.query(NOTE)), discard } });
  while ((await jobOf(stored)).status !== 'succeeded') await wait(2);
  assert.deepEqual([(await noteOf(database)).length, await credits(), discarded], [1, 93, 0]);

  const refused = await submit();
  await started(runs, 2);
  const commit = async (sql: { query: Database['query'] }) => {
    await sql.query(NOTE);
    throw new HttpProblem(422, 'there are 50 fine-tuned models already');
  };
  runs[1].end({ ...ANSWER, effect: { commit, discard } });
  while ((await jobOf(refused)).status !== 'failed') await wait(2);
  assert.match((await jobOf(refused)).error!, /50 fine-tuned models/);
  assert.deepEqual([(await noteOf(database)).length, await credits(), discarded], [1, 93, 1]);
});

storeTest('jobs of a revoked key end, and what they held is released', async (store, t) => {
  const { database, runs, submit, jobOf, credits } = await world(store, t);
  const [running, pending] = [await submit(), await submit()];
  await started(runs);
  assert.equal(await credits(), 86);
  await revokeApiKey(database, 'ann', { nowMs: Date.now(), actor: 'operator' });
  for (const id of [running, pending]) {
    const { status, error } = await jobOf(id);
    assert.deepEqual([status, error], ['cancelled', 'The key that submitted the job was revoked']);
  }
  while (!runs[0].run.signal.aborted) await wait(2);
  assert.equal(await credits(), 100);
  assert.deepEqual(await imbalances(database), []);
});

storeTest('jobs are counted by task and outcome, with their attempts, and those that wait by age', async (store, t) => {
  const { database, queue, caller, runs, submit, jobOf, metrics } = await world(store, t);
  const [first, second, third] = [await submit(), await submit(), await submit()];
  await started(runs);
  const backlog = await jobBacklog(database);
  assert.deepEqual([backlog.pending, backlog.running], [2, 1]);
  assert.ok(Math.abs(Date.now() - backlog.oldestPendingAtMs!) < 60_000);
  runs[0].end(ANSWER);
  await started(runs, 2);
  runs[1].end({ kind: 'failed', error: 'why' });
  await started(runs, 3);
  await queue.cancel(caller, third);
  const outcome = (name: string) => `tidewatch_jobs_total{task="finetune",outcome="${name}"} 1`;
  const expected = ['succeeded', 'failed', 'stopped'].map(outcome);
  let text = '';
  while (!expected.every((line) => text.includes(line))) {
    await wait(2);
    text = await metrics.registry.metrics();
  }
  assert.match(text, /^tidewatch_job_attempts_total\{task="finetune"\} 3$/m);
  assert.match(text, /^tidewatch_job_seconds_count\{task="finetune"\} 3$/m);
  assert.match(text, /^tidewatch_tokens_total\{key="ann"\} 7$/m);
  assert.deepEqual([(await jobOf(first)).status, (await jobOf(second)).status], ['succeeded', 'failed']);
  assert.deepEqual(await jobBacklog(database), { pending: 0, running: 0, oldestPendingAtMs: null });
});

storeTest('a job shows its progress while it runs, and is stopped when it is cancelled elsewhere', async (store, t) => {
  const { queueOn, caller, runs, submit, jobOf } = await world(store, t);
  const elsewhere = queueOn(await store.open());
  const id = await submit();
  await started(runs);
  assert.equal((await jobOf(id)).progress, null);
  for (const step of [0, 12]) {
    runs[0].run.onProgress?.({ step, steps: 50 });
    while ((await jobOf(id)).progress?.step !== step) await wait(2);
    const { status, progress } = await jobOf(id);
    assert.deepEqual([status, progress], ['running', { step, steps: 50 }]);
  }
  assert.equal(await elsewhere.cancel(caller, id), true);
  while (!runs[0].run.signal.aborted) await wait(2);
  const { status, progress } = await jobOf(id);
  assert.deepEqual([status, progress], ['cancelled', null]);
});
