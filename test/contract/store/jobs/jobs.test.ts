import assert from 'node:assert/strict';
import type { Database } from '../../../../src/store/database/database.ts';
import { cancelJob } from '../../../../src/store/jobs/job-cancel.ts';
import { claimJob } from '../../../../src/store/jobs/job-claim.ts';
import { JOB_STATUSES } from '../../../../src/store/jobs/job-status.ts';
import {
  type ClaimedJob,
  countInFlight,
  endJob,
  expireJobs,
  expireLeases,
  extendLease,
  findJob,
  type InFlightLimits,
  listJobs,
  type NewJob,
  releaseJob,
  submitJob,
} from '../../../../src/store/jobs/jobs.ts';
import { openedTest, sqliteTest, storeTest } from '../../../fixture/store/stores.ts';

const added = (database: Database, job: NewJob, limits: InFlightLimits) =>
  database.transaction((sql) => submitJob(sql, job, limits));

const LIMITS = { jobsMax: 100, requestBytesMax: 1_000 };
const T0 = 1_800_000_000_000;
const ENDS = { endedAtMs: T0 + 20, expiresAtMs: T0 + 100 };
const SUCCESS = { status: 'succeeded', result: new Uint8Array([1, 2, 255]), error: null, ...ENDS } as const;
const FAILURE = { status: 'failed', result: null, error: 'why', ...ENDS } as const;
const LAPSE = { nowMs: T0 + 50, attemptsMax: 3, error: 'its server ended', expiresAtMs: T0 + 100 };

function newJob(id: string, changes: Partial<NewJob> = {}): NewJob {
  const of = { task: 'forecast', owner: 'ann', keyId: 'key', holdId: 'hold', requestId: 'r' };
  return { id, ...of, createdAtMs: T0, timeoutSeconds: 300, request: new Uint8Array([0, 9, 200]), ...changes };
}

async function submit(database: Database, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) assert.deepEqual(await added(database, newJob(id), LIMITS), { kind: 'submitted' });
}

const lease = (holder: string, untilMs = T0 + 50) => ({ holder, untilMs });

async function claim(database: Database, holder = 'a', untilMs = T0 + 50): Promise<ClaimedJob> {
  const job = await claimJob(database, { ...lease(holder, untilMs), nowMs: T0 + 10 });
  assert.ok(job !== null, 'a job waits');
  return job;
}

const statusOf = async (database: Database, id: string) => (await findJob(database, { owner: 'ann', id }, T0))?.status;

openedTest('a job is pending, running, and succeeded with its result', async (database) => {
  await submit(database, 'one');
  const waiting = {
    number: 1,
    id: 'one',
    task: 'forecast',
    createdAtMs: T0,
    error: null,
    result: null,
    progress: null,
  };
  const unseen = { startedAtMs: null, endedAtMs: null };
  assert.deepEqual(await findJob(database, { owner: 'ann', id: 'one' }, T0), {
    ...waiting,
    ...unseen,
    status: 'pending',
  });
  const job = await claim(database);
  const { createdAtMs: _, ...claimed } = newJob('one');
  assert.deepEqual(job, { ...claimed, attempt: 1 });
  assert.equal(await claimJob(database, { ...lease('b'), nowMs: T0 }), null);
  assert.equal(await endJob(database, job, { ...SUCCESS, holder: 'a' }), true);
  const ended = { ...waiting, status: 'succeeded', startedAtMs: T0 + 10, endedAtMs: T0 + 20, result: SUCCESS.result };
  assert.deepEqual(await findJob(database, { owner: 'ann', id: 'one' }, T0), ended);
});

openedTest('jobs run in creation order', async (database) => {
  await submit(database, 'c', 'a', 'b');
  const first = await claim(database);
  assert.equal(first.id, 'c');
  await releaseJob(database, first, 'a');
  assert.equal((await claim(database)).id, 'c', 'one that was given back is the first again');
  assert.equal((await claim(database)).id, 'a');
});

openedTest('owners take turns: many jobs of one do not keep the job of another one waiting', async (database) => {
  await submit(database, 'a1', 'a2', 'a3', 'a4', 'a5');
  await added(database, newJob('b1', { owner: 'bob' }), LIMITS);
  await added(database, newJob('b2', { owner: 'bob' }), LIMITS);
  const order: string[] = [];
  for (let i = 0; i < 7; i++) {
    const job = await claimJob(database, { ...lease('a'), nowMs: T0 + i });
    assert.ok(job !== null);
    order.push(job.id);
    await database.transaction((sql) => endJob(sql, job, { ...SUCCESS, holder: 'a' }));
  }
  assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4', 'a5']);
});

storeTest('a holder runs a bounded number of jobs of one owner, and leaves others a place', async (store) => {
  const database = await store.open();
  await submit(database, 'a1', 'a2');
  const next = async (holder: string) =>
    (await claimJob(database, { ...lease(holder), nowMs: T0, runningOfOwnerMax: 1 }))?.id ?? null;
  assert.deepEqual([await next('one'), await next('one')], ['a1', null]);
  await added(database, newJob('b1', { owner: 'bob' }), LIMITS);
  assert.deepEqual([await next('one'), await next('two'), await next('two')], ['b1', 'a2', null]);
});

storeTest('concurrent replicas claim different jobs', async (store) => {
  const replicas = [await store.open(), await store.open()];
  const ids = Array.from({ length: 20 }, (_, i) => `job-${i}`);
  await submit(replicas[0], ...ids);
  const claims = await Promise.all(
    Array.from({ length: 24 }, (_, i) => claimJob(replicas[i % 2], { ...lease(`holder ${i}`), nowMs: T0 })),
  );
  const claimed = claims.flatMap((job) => (job === null ? [] : [job.id]));
  assert.deepEqual(claimed.sort(), ids.sort());
});

openedTest('only the holder of the lease may store a result', async (database) => {
  await submit(database, 'one');
  const first = await claim(database, 'a');
  assert.deepEqual((await expireLeases(database, LAPSE)).waiting, ['one']);
  const second = await claim(database, 'a', T0 + 90);
  assert.equal(second.attempt, 2);
  assert.equal(
    await extendLease(database, first, { ...lease('a', T0 + 99), progress: { step: 9, steps: 9 } }),
    false,
    'the same process, an earlier run',
  );
  assert.equal(await endJob(database, first, { ...FAILURE, holder: 'a' }), false);
  assert.equal(await endJob(database, second, { ...FAILURE, holder: 'b' }), false);
  await releaseJob(database, first, 'a');
  assert.equal(await statusOf(database, 'one'), 'running');
  assert.equal(await endJob(database, second, { ...SUCCESS, holder: 'a' }), true);
  assert.equal(await endJob(database, second, { ...FAILURE, holder: 'a' }), false, 'the first end counts');
  assert.equal(await statusOf(database, 'one'), 'succeeded');
});

openedTest('a renewed lease does not expire', async (database) => {
  await submit(database, 'one');
  const job = await claim(database);
  assert.equal(await extendLease(database, job, { ...lease('a', T0 + 51), progress: null }), true);
  assert.deepEqual((await expireLeases(database, LAPSE)).waiting, []);
  assert.deepEqual((await expireLeases(database, { ...LAPSE, nowMs: T0 + 51 })).waiting, ['one']);
});

openedTest('progress is known while the job runs, from the holder of the lease only', async (database) => {
  await submit(database, 'one');
  const progress = async () => (await findJob(database, { owner: 'ann', id: 'one' }, T0))?.progress;
  const said = (job: ClaimedJob, step: number) =>
    extendLease(database, job, { ...lease('a'), progress: { step, steps: 50 } });
  const first = await claim(database);
  assert.equal(await progress(), null);
  assert.equal(await said(first, 0), true);
  assert.deepEqual(await progress(), { step: 0, steps: 50 });
  await said(first, 12);
  assert.deepEqual(await progress(), { step: 12, steps: 50 });
  await expireLeases(database, LAPSE);
  assert.equal(await progress(), null, 'a job whose lease expired starts over');
  const second = await claim(database);
  assert.equal(await said(first, 13), false);
  assert.equal(await progress(), null);
  await said(second, 1);
  await releaseJob(database, second, 'a');
  assert.equal(await progress(), null);
  const third = await claim(database);
  await said(third, 50);
  await endJob(database, third, { ...SUCCESS, holder: 'a' });
  assert.equal(await progress(), null);
});

openedTest('a job without attempts left has failed with the reason', async (database) => {
  await submit(database, 'one');
  for (let run = 1; run < LAPSE.attemptsMax; run++) {
    await claim(database);
    assert.deepEqual((await expireLeases(database, LAPSE)).waiting, ['one']);
  }
  await claim(database);
  const { waiting, failed } = await expireLeases(database, LAPSE);
  assert.deepEqual([waiting, failed], [[], [{ keyId: 'key', holdId: 'hold' }]]);
  const job = await findJob(database, { owner: 'ann', id: 'one' }, T0);
  assert.deepEqual([job?.status, job?.error, job?.endedAtMs], ['failed', LAPSE.error, LAPSE.nowMs]);
});

openedTest('a pending or running job is cancelled once; its runner learns it from the lease', async (database) => {
  await submit(database, 'running', 'waiting', 'ended');
  const job = await claim(database);
  for (const id of ['running', 'waiting']) {
    assert.equal(await cancelJob(database, { owner: 'bob', id }, ENDS), null, 'another owner');
    assert.deepEqual(await cancelJob(database, { owner: 'ann', id }, ENDS), { keyId: 'key', holdId: 'hold' });
    assert.equal(await cancelJob(database, { owner: 'ann', id }, ENDS), null);
    assert.equal(await statusOf(database, id), 'cancelled');
  }
  assert.equal(await extendLease(database, job, { ...lease('a'), progress: null }), false);
  assert.equal(await endJob(database, job, { ...SUCCESS, holder: 'a' }), false);
  await endJob(database, await claim(database), { ...SUCCESS, holder: 'a' });
  assert.equal(await cancelJob(database, { owner: 'ann', id: 'ended' }, ENDS), null);
});

storeTest('the limit of jobs per owner holds under concurrency', async (store) => {
  const replicas = [await store.open(), await store.open()];
  const limits = { jobsMax: 5, requestBytesMax: 1_000 };
  const submitted = await Promise.all(
    Array.from({ length: 12 }, (_, i) => added(replicas[i % 2], newJob(`job-${i}`), limits)),
  );
  assert.equal(submitted.filter(({ kind }) => kind === 'submitted').length, 5);
  assert.deepEqual(await added(replicas[0], newJob('more'), limits), { kind: 'too-many', inFlight: 5 });
  assert.equal((await added(replicas[0], newJob('other', { owner: 'bob' }), limits)).kind, 'submitted');
  await endJob(replicas[0], await claim(replicas[0]), { ...FAILURE, holder: 'a' });
  assert.equal((await added(replicas[0], newJob('more'), limits)).kind, 'submitted');
});

openedTest('the limit of request bytes per owner holds; a single job is accepted', async (database) => {
  const large = (id: string, bytes: number) => newJob(id, { request: new Uint8Array(bytes) });
  assert.equal((await added(database, large('alone', 2_000), LIMITS)).kind, 'submitted');
  assert.equal((await added(database, large('small', 1), LIMITS)).kind, 'too-many');
  await endJob(database, await claim(database), { ...SUCCESS, holder: 'a' });
  assert.equal((await added(database, large('small', 600), LIMITS)).kind, 'submitted');
  assert.equal((await added(database, large('larger', 401), LIMITS)).kind, 'too-many');
  assert.equal((await added(database, large('fits', 400), LIMITS)).kind, 'submitted');
});

openedTest('a list is newest first, in pages, per owner; new jobs do not shift pages', async (database) => {
  await submit(database, 'a', 'b', 'c', 'd');
  await added(database, newJob('of bob', { owner: 'bob' }), LIMITS);
  const page = (before: number, size: number) =>
    listJobs(database, 'ann', { statuses: JOB_STATUSES, before, size, nowMs: T0 });
  const idsOf = ({ jobs }: Awaited<ReturnType<typeof page>>) => jobs.map(({ id }) => id);
  const first = await page(Number.MAX_SAFE_INTEGER, 3);
  assert.deepEqual(idsOf(first), ['d', 'c', 'b']);
  await submit(database, 'e');
  const last = await page(first.next!, 3);
  assert.deepEqual([idsOf(last), last.next], [['a'], null]);
  assert.equal((await page(Number.MAX_SAFE_INTEGER, 5)).next, null);
});

openedTest('jobs in flight are counted by task and status', async (database) => {
  await submit(database, 'a', 'b');
  await added(database, newJob('c', { task: 'finetune' }), LIMITS);
  await added(database, newJob('of bob', { owner: 'bob' }), LIMITS);
  await claim(database);
  const counts = await countInFlight(database, 'ann');
  assert.deepEqual(counts.map(({ task, status, jobs }) => `${jobs} ${task} ${status}`).sort(), [
    '1 finetune pending',
    '1 forecast pending',
    '1 forecast running',
  ]);
});

openedTest('ended jobs expire; others remain', async (database) => {
  await submit(database, 'ended', 'cancelled', 'running', 'waiting');
  await endJob(database, await claim(database), { ...SUCCESS, holder: 'a' });
  await cancelJob(database, { owner: 'ann', id: 'cancelled' }, { ...ENDS, expiresAtMs: T0 + 101 });
  await claim(database);
  assert.equal(await expireJobs(database, T0 + 99), 0);
  assert.equal((await findJob(database, { owner: 'ann', id: 'ended' }, T0 + 99))?.status, 'succeeded');
  assert.equal(await findJob(database, { owner: 'ann', id: 'ended' }, T0 + 100), null, 'gone before it is swept');
  assert.equal(await expireJobs(database, T0 + 100), 1);
  const newest = { statuses: JOB_STATUSES, before: Number.MAX_SAFE_INTEGER, size: 9 };
  const { jobs } = await listJobs(database, 'ann', { ...newest, nowMs: T0 + 101 });
  const ids = jobs.map(({ id }) => id);
  assert.deepEqual(ids, ['waiting', 'running']);
});

storeTest('jobs survive a restart of the store', async (store) => {
  const before = await store.open();
  await submit(before, 'one');
  await claim(before);
  await before.close();
  const after = await store.open();
  assert.deepEqual((await expireLeases(after, LAPSE)).waiting, ['one']);
  assert.deepEqual((await claim(after)).request, newJob('one').request);
});

sqliteTest('a full disk refuses a job and harms nothing', async (store) => {
  const database = await store.open();
  await submit(database, 'one');
  await database.query('PRAGMA max_page_count = 1');
  const large = newJob('two', { request: new Uint8Array(500_000) });
  await assert.rejects(added(database, large, { jobsMax: 9, requestBytesMax: 1e9 }), {
    code: 'store-unavailable',
    message: /the disk is full/,
  });
  await database.query('PRAGMA max_page_count = 1000000');
  assert.equal(await findJob(database, { owner: 'ann', id: 'two' }, T0), null);
  assert.deepEqual(await database.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.equal((await claim(database)).id, 'one');
});
