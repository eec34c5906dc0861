import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobExecutor, JobOutcome, JobRun } from '../../../../src/api/jobs/job.ts';
import { JobQueue } from '../../../../src/api/jobs/job-queue.ts';
import { createLogger } from '../../../../src/ops/logger.ts';
import type { AnsweredJob, JobProgress } from '../../../../src/store/jobs/jobs.ts';
import { createApiKey, listApiKeys } from '../../../../src/store/keys/api-keys.ts';
import { newKey } from '../../../fixture/store/new-key.ts';
import { storeTest } from '../../../fixture/store/stores.ts';

/** Jobs end only when the test ends them. */
function heldExecutor() {
  const runs: JobRun[] = [];
  const executor: JobExecutor = {
    run(run) {
      runs.push(run);
      const { promise, resolve } = Promise.withResolvers<JobOutcome>();
      run.signal.addEventListener('abort', () => resolve({ kind: 'stopped' }));
      return promise;
    },
    close: async () => {},
  };
  return { executor, runs };
}

storeTest(
  'a job shows how far it has come while it runs, and is stopped when it is cancelled elsewhere',
  async (store, t) => {
    const [database, elsewhere] = [await store.open(), await store.open()];
    await createApiKey(database, newKey('ann'), 'operator');
    const [key] = await listApiKeys(database);
    const { executor, runs } = heldExecutor();
    const parts = { nowMs: Date.now, logger: createLogger('silent') };
    const limits = { heartbeatMs: 5, pollMs: 5 };
    const queue = new JobQueue({ database, executor, ...parts, limits });
    const other = new JobQueue({ database: elsewhere, executor: heldExecutor().executor, ...parts, limits });
    t.after(() => queue.close());
    const caller = { key, requestId: 'r' };
    const tokens = { input_tokens: 1, output_tokens: 0, finetune_tokens: 0 };
    const body = new Uint8Array([1]);
    const id = await queue.submit({ task: 'finetune', caller, tokens, body, timeoutSeconds: 300 });
    const until = async (reached: (job: AnsweredJob) => boolean) => {
      for (;;) {
        const job = (await queue.find(key.owner, id))!;
        if (reached(job)) return job;
        await wait(2);
      }
    };
    assert.equal((await until(() => runs.length > 0)).progress, null);
    const reported: JobProgress[] = [
      { step: 0, steps: 50 },
      { step: 12, steps: 50 },
    ];
    for (const progress of reported) {
      runs[0].onProgress?.(progress);
      const { status } = await until((job) => job.progress?.step === progress.step && job.progress.steps === 50);
      assert.equal(status, 'running');
    }
    assert.equal(await other.cancel(caller, id), true);
    while (!runs[0].signal.aborted) await wait(2);
    const { status, progress } = (await queue.find(key.owner, id))!;
    assert.deepEqual([status, progress], ['cancelled', null]);
  },
);
