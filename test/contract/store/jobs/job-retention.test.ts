import assert from 'node:assert/strict';
import type { Database } from '../../../../src/store/database/database.ts';
import { cancelJob } from '../../../../src/store/jobs/job-cancel.ts';
import { claimJob } from '../../../../src/store/jobs/job-claim.ts';
import { pruneJobs } from '../../../../src/store/jobs/job-retention.ts';
import { JOB_STATUSES, type JobStatus } from '../../../../src/store/jobs/job-status.ts';
import { type ClaimedJob, endJob, findJob, listJobs, submitJob } from '../../../../src/store/jobs/jobs.ts';
import { openedTest } from '../../../fixture/store/stores.ts';

const T0 = 1_800_000_000_000;
const HOUR = 3_600_000;
const ENDS = { endedAtMs: T0, expiresAtMs: T0 + 168 * HOUR };
const SUCCESS = { status: 'succeeded', result: new Uint8Array(100), error: null, ...ENDS, holder: 'a' } as const;
const LIMITS = { jobsMax: 100, requestBytesMax: 1_000 };

async function submit(database: Database, ...ids: readonly string[]): Promise<void> {
  const job = { task: 'forecast', owner: 'ann', keyId: 'key', holdId: null, createdAtMs: T0, timeoutSeconds: 300 };
  for (const id of ids) {
    await database.transaction((sql) => submitJob(sql, { ...job, id, request: new Uint8Array(1) }, LIMITS));
  }
}

async function claim(database: Database): Promise<ClaimedJob> {
  const job = await claimJob(database, { holder: 'a', untilMs: T0 + HOUR, nowMs: T0 });
  assert.ok(job !== null, 'a job waits');
  return job;
}

async function idsOf(database: Database, statuses: readonly JobStatus[] = JOB_STATUSES): Promise<string[]> {
  const page = { before: Number.MAX_SAFE_INTEGER, size: 9, nowMs: T0 };
  return (await listJobs(database, 'ann', { ...page, statuses })).jobs.map(({ id }) => id);
}

openedTest('a list by status has these alone, newest first over all of them', async (database) => {
  await submit(database, 'a', 'b', 'c', 'd');
  await endJob(database, await claim(database), SUCCESS);
  await claim(database);
  await cancelJob(database, { owner: 'ann', id: 'd' }, ENDS);
  assert.deepEqual(await idsOf(database, ['pending', 'running']), ['c', 'b']);
  assert.deepEqual(await idsOf(database, ['succeeded', 'pending', 'cancelled']), ['d', 'c', 'a']);
  assert.deepEqual(await idsOf(database, ['failed']), []);
});

openedTest('beyond a limit of bytes results are removed, the oldest first, not within an hour', async (database) => {
  for (const [i, id] of ['a', 'b', 'c', 'd'].entries()) {
    await submit(database, id);
    await endJob(database, await claim(database), { ...SUCCESS, endedAtMs: T0 + i });
  }
  const limits = { resultBytesMax: 250, jobsMax: 9 };
  assert.equal(await pruneJobs(database, T0 + HOUR, limits), 0);
  assert.equal(await pruneJobs(database, T0 + HOUR + 1, limits), 1, 'the second ended within the hour');
  assert.equal(await pruneJobs(database, T0 + HOUR + 9, limits), 1);
  assert.equal(await pruneJobs(database, T0 + HOUR + 9, limits), 0);
  for (const [id, isKept] of Object.entries({ a: false, b: false, c: true, d: true })) {
    const job = await findJob(database, { owner: 'ann', id }, T0 + HOUR);
    assert.deepEqual([job?.status, job?.result?.length ?? null], ['succeeded', isKept ? 100 : null], id);
    assert.match(job?.error ?? 'none', isKept ? /none/ : /no longer kept.* more than 250 bytes/);
  }
});

openedTest('beyond a limit of jobs the oldest that ended are forgotten, not within an hour', async (database) => {
  await submit(database, 'a', 'b', 'c', 'd', 'e');
  await endJob(database, await claim(database), SUCCESS);
  // The second one still runs.
  await claim(database);
  for (const id of ['c', 'd', 'e']) await cancelJob(database, { owner: 'ann', id }, ENDS);
  const limits = { resultBytesMax: 250, jobsMax: 2 };
  assert.equal(await pruneJobs(database, T0 + HOUR, limits), 0);
  assert.equal(await pruneJobs(database, T0 + HOUR + 1, limits), 2);
  assert.deepEqual(await idsOf(database), ['e', 'd', 'b']);
});
