/**
 * Jobs: how fast they are taken while thousands wait, how fast they end, and how long one waits when nothing is before
 * it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '../../src/store/database/open-store.ts';
import type { Figures } from './bench.ts';
import { askAgain } from './http-load.ts';
import { API_KEY, startSidecar } from './sidecar-process.ts';
import { valueAt } from './synthetic-series.ts';
import { printTable, rounded } from './table.ts';

const QUEUED = 10_000;
/** Jobs one at a time, each submitted when the one before it has ended. */
const ALONE = 50;
const CONNECTIONS = 16;
const LENGTH = 200;
const POLL_MS = 500;
/** How long answers at once are asked for. */
const CHECK_MS = 5_000;

const Y = Array.from({ length: LENGTH }, (_, step) => valueAt(0, step).toFixed(4)).join();
const BODY = Buffer.from(`{"series":{"y":[${Y}],"sizes":[${LENGTH}]},"freq":"h","h":24}`);
const CHECK = { path: '/v2/forecast', body: BODY };

interface JobTimes {
  readonly createdMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
}

export async function run(): Promise<Figures> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-jobs-'));
  const sidecar = await startSidecar({ DATA_DIR: dataDir, JOBS_IN_FLIGHT_MAX: String(QUEUED) });
  try {
    const client = clientOf(sidecar.url);
    // The first one waits for the sandbox to start.
    await client.submit();
    await client.allEnded();
    await askAgain(sidecar.url, CHECK, 1, CHECK_MS / 10);
    const alone = await askAgain(sidecar.url, CHECK, 1, CHECK_MS);
    for (let i = 0; i < ALONE; i++) {
      await client.submit();
      await client.allEnded();
    }
    const startedMs = performance.now();
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, connection) => {
        for (let i = connection; i < QUEUED; i += CONNECTIONS) await client.submit();
      }),
    );
    const submittedMs = performance.now();
    const beside = await askAgain(sidecar.url, CHECK, 1, CHECK_MS);
    await client.allEnded();
    const endedMs = performance.now();
    client.close();
    const times = await timesOf(dataDir);
    printTable(
      'the same forecast, answered at once, one after the other',
      ['', 'answers/s', 'p50 ms', 'p99 ms'],
      [
        ['alone', alone.perSecond, alone.p50Ms, alone.p99Ms],
        ['beside jobs', beside.perSecond, beside.p50Ms, beside.p99Ms],
      ],
    );
    const checks = {
      check_p50_ms: rounded(alone.p50Ms),
      check_p99_ms: rounded(alone.p99Ms),
      check_beside_jobs_p50_ms: rounded(beside.p50Ms),
      check_beside_jobs_p99_ms: rounded(beside.p99Ms),
    };
    const figures = figuresOf(times.slice(1), {
      submitS: (submittedMs - startedMs) / 1_000,
      allS: (endedMs - startedMs) / 1_000,
    });
    return { ...figures, ...checks };
  } finally {
    await sidecar.stop();
    await rm(dataDir, { recursive: true });
  }
}

function figuresOf(
  times: readonly JobTimes[],
  { submitS, allS }: { readonly submitS: number; readonly allS: number },
): Figures {
  const waits = (jobs: readonly JobTimes[]) => {
    const sorted = jobs.map(({ createdMs, startedMs }) => startedMs - createdMs).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return { p50: at(0.5), p99: at(0.99) };
  };
  const alone = waits(times.slice(0, ALONE));
  const queued = waits(times.slice(ALONE));
  const perSecond = { submitted: QUEUED / submitS, ended: QUEUED / allS };
  printTable(
    `forecast jobs of one series of ${LENGTH} values, SQLite`,
    ['', 'jobs', 'submitted/s', 'ended/s', 'submission to running: p50 ms', 'p99 ms'],
    [
      ['one at a time', ALONE, Number.NaN, Number.NaN, alone.p50, alone.p99],
      [`${CONNECTIONS} connections, all queued`, QUEUED, perSecond.submitted, perSecond.ended, queued.p50, queued.p99],
    ],
  );
  return {
    queued_jobs: QUEUED,
    submitted_jobs_per_s: rounded(perSecond.submitted),
    finished_jobs_per_s: rounded(perSecond.ended),
    submit_to_running_p50_ms: rounded(queued.p50),
    submit_to_running_p99_ms: rounded(queued.p99),
    idle_submit_to_running_p50_ms: rounded(alone.p50),
    idle_submit_to_running_p99_ms: rounded(alone.p99),
  };
}

/** As the store has written them down, in the order of submission. */
async function timesOf(dataDir: string): Promise<JobTimes[]> {
  const database = await openDatabase({ dataDir, url: null });
  const times = await database.query<JobTimes & { status: string }>(
    `SELECT created_at AS "createdMs", started_at AS "startedMs", ended_at AS "endedMs", status FROM jobs ORDER BY number`,
  );
  await database.close();
  const failed = times.filter(({ status }) => status !== 'succeeded').length;
  if (failed > 0) throw new Error(`${failed} jobs did not succeed`);
  return times;
}

function clientOf(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const send = (method: string, path: string, payload: Buffer | string = '') =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const asked = request(new URL(path, url), { method, agent, headers }, async (answer) => {
        let text = '';
        for await (const chunk of answer.setEncoding('utf8')) text += chunk;
        resolve({ status: answer.statusCode!, text });
      });
      asked.on('error', reject).end(payload);
    });
  const inFlight = async () => {
    const counts: Record<string, { pending: number; running: number }> = JSON.parse(
      (await send('GET', '/v2/async/jobs/status')).text,
    );
    return Object.values(counts).reduce((sum, { pending, running }) => sum + pending + running, 0);
  };
  return {
    async submit() {
      const { status, text } = await send('POST', '/v2/forecast/async', BODY);
      if (status !== 202) throw new Error(`a job was answered ${status}: ${text}`);
    },
    async allEnded() {
      for (let left = await inFlight(); left > 0; left = await inFlight()) await wait(left > 1 ? POLL_MS : 1);
    },
    close: () => agent.destroy(),
  };
}
