import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import type { ReplicaOptions, ReplicaReport } from '../../fixture/http/job-replica.ts';
import { writeModelFolder } from '../../fixture/models/model-folder.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { postgresTest, storeTest, type TestStore } from '../../fixture/store/stores.ts';
import { until } from '../../fixture/until.ts';

const REPLICA = fileURLToPath(new URL('../../fixture/http/job-replica.ts', import.meta.url));
const KEY = 'the-key-that-the-tests-use';
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
/** Many more than a replica runs between two looks at it: it is killed with more than 50 in flight. */
const JOBS = 100;
const CREDITS = 100_000;
const POLLING = { waitMsMax: 300_000, everyMs: 5 };
/** Of a job: 20 values in, 2 out. */
const TOKENS = 22;

interface Replica {
  readonly url: string;
  /** Ids of jobs whose results were taken from it, in order. */
  readonly succeeded: readonly string[];
  kill(): Promise<void>;
}

async function world(store: TestStore, t: TestContext) {
  const dir = freshFolder();
  const noModelsDir = join(dir, 'none');
  await mkdir(noModelsDir);
  await writeModelFolder(join(dir, 'models'), 'tsmodel-1');
  const children: ChildProcess[] = [];
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL');
  });
  const { place } = store;
  const start = async (): Promise<Replica> => {
    const options: ReplicaOptions = {
      place,
      modelsDir: join(dir, 'models'),
      noModelsDir,
      key: KEY,
      credits: CREDITS,
      leaseMs: 1_000,
    };
    const child = spawn(process.execPath, [REPLICA, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const succeeded: string[] = [];
    const { promise: url, resolve, reject } = Promise.withResolvers<string>();
    child.once('exit', () => reject(new Error('the replica ended while it started')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report: ReplicaReport = JSON.parse(line);
      if ('url' in report) resolve(report.url);
      else succeeded.push(report.succeeded);
    });
    return {
      url: await url,
      succeeded,
      async kill() {
        const ended = once(child, 'close');
        child.kill('SIGKILL');
        await ended;
      },
    };
  };
  return { start };
}

/** Job number i forecasts a series of its own value: its result identifies the job. */
async function submit({ url }: Replica, i: number): Promise<string> {
  const series = { y: new Array(20).fill(i + 1), sizes: [20] };
  const body = JSON.stringify({ series, freq: 'h', h: 2 });
  const answer = await fetch(`${url}/v2/forecast/async`, { method: 'POST', headers, body });
  assert.equal(answer.status, 202);
  return ((await answer.json()) as { job_id: string }).job_id;
}

async function ended({ url }: Replica, id: string) {
  for (;;) {
    const answer = await fetch(`${url}/v2/forecast/jobs/${id}`, { headers });
    const job = (await answer.json()) as { status: string; result: { mean: number[] } | null };
    if (job.status !== 'pending' && job.status !== 'running') return job;
    await wait(20);
  }
}

/**
 * Every job has its own result, and each result was taken once. The last result of a killed replica may have been taken
 * without its telling so.
 */
async function assertAllOnce(ids: readonly string[], alive: Replica, killed: readonly Replica[]): Promise<void> {
  for (const [i, id] of ids.entries()) {
    const job = await ended(alive, id);
    assert.equal(job.status, 'succeeded');
    assert.deepEqual(job.result!.mean.map(Math.round), [i + 1, i + 1]);
  }
  await until(
    'all results are reported',
    () => alive.succeeded.length + killed.flatMap((replica) => replica.succeeded).length >= ids.length - killed.length,
    POLLING,
  );
  const taken = [alive, ...killed].flatMap(({ succeeded }) => succeeded);
  assert.equal(new Set(taken).size, taken.length, 'no result was taken twice');
  assert.ok(taken.length >= ids.length - killed.length, `${taken.length} results were taken`);
}

/** Whoever ran it, and however often: a job is paid for once, and nothing is held any more. */
async function assertChargedOnce(store: TestStore, jobs: number): Promise<void> {
  const database = await store.open();
  assert.deepEqual(await database.query('SELECT credits FROM api_keys'), [{ credits: CREDITS - jobs * TOKENS }]);
  assert.deepEqual(await database.query('SELECT id FROM credit_holds'), []);
  assert.deepEqual(await imbalances(database), []);
}

storeTest('a server that is killed with over 50 jobs in flight loses none and ends none twice', async (store, t) => {
  const { start } = await world(store, t);
  const first = await start();
  const ids = await Promise.all(Array.from({ length: JOBS }, (_, i) => submit(first, i)));
  await until('some have ended', () => first.succeeded.length >= 3, POLLING);
  await first.kill();
  const second = await start();
  await assertAllOnce(ids, second, [first]);
  t.diagnostic(`killed after ${first.succeeded.length} of ${JOBS} jobs`);
  assert.ok(first.succeeded.length < JOBS, 'it was killed in the middle');
  await assertChargedOnce(store, ids.length);
});

postgresTest('replicas share the jobs; when one is killed the others end all of them, none twice', async (store, t) => {
  const { start } = await world(store, t);
  const [first, second] = await Promise.all([start(), start()]);
  const ids: string[] = [];
  // One may be at work long before the other is: there are jobs until both are.
  while (first.succeeded.length < 3 || second.succeeded.length < 3) {
    ids.push(await submit(ids.length % 2 ? first : second, ids.length));
    await wait(10);
  }
  const more = Array.from({ length: JOBS }, (_, i) => submit(i % 2 ? first : second, ids.length + i));
  ids.push(...(await Promise.all(more)));
  await first.kill();
  await assertAllOnce(ids, second, [first]);
  await assertChargedOnce(store, ids.length);
});
