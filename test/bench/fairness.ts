/**
 * What the careless or hostile use of one key costs another: the latency of its small forecasts, the wait of its job,
 * the longest stall of `/health`, and the memory that a bomb takes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createApiKey } from '../../src/store/api-keys.ts';
import { openDatabase } from '../../src/store/open-store.ts';
import type { Figures } from './bench.ts';
import { API_KEY, type Sidecar, startSidecar } from './sidecar-process.ts';
import { valueAt } from './synthetic-series.ts';
import { printTable, rounded } from './table.ts';

const OTHER_KEY = 'the-key-of-the-other-one';
const LARGE_REQUESTS = 70;
const LARGE_SERIES = 300;
const BESIDE_MS = 15_000;
const TUNINGS = 5;
/** A job that waits longer has waited in vain. */
const JOB_MS_MAX = 120_000;
const MIB = 2 ** 20;

const column = (length: number) => Array.from({ length }, (_, step) => valueAt(0, step).toFixed(4)).join();

function forecastBody(series: number, length: number, rest = ''): string {
  const y = new Array(series).fill(column(length)).join();
  return `{"series":{"y":[${y}],"sizes":[${new Array(series).fill(length).join()}]},"freq":"h","h":24${rest}}`;
}

interface Asked {
  readonly path: string;
  readonly key: string;
  readonly body?: string | Buffer;
  readonly gzip?: boolean;
  readonly signal?: AbortSignal;
}

function clientOf(url: string) {
  const agent = new Agent({ keepAlive: true });
  return async ({ path, key, body, gzip = false, signal }: Asked) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(gzip && { 'content-encoding': 'gzip' }),
    };
    const started = performance.now();
    const method = body === undefined ? 'GET' : 'POST';
    const text = await new Promise<string>((resolve, reject) => {
      const asked = request(
        new URL(path, url),
        { method, agent, headers, ...(signal && { signal }) },
        async (answer) => {
          let whole = '';
          for await (const chunk of answer.setEncoding('utf8')) whole += chunk;
          resolve(`${answer.statusCode} ${whole}`);
        },
      );
      asked.on('error', reject).end(body);
    });
    return { ms: performance.now() - started, status: Number(text.slice(0, 3)), text: text.slice(4) };
  };
}

type Client = ReturnType<typeof clientOf>;

export async function run(): Promise<Figures> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-fairness-'));
  const store = await openDatabase({ dataDir, url: null });
  const limits = { models: null, callsPerMinute: null, callsAtOnce: null, credits: null, expiresAtMs: null };
  const other = {
    id: 'other',
    owner: 'other',
    name: 'other',
    role: 'operator' as const,
    secret: OTHER_KEY,
    createdAtMs: Date.now(),
    ...limits,
  };
  await createApiKey(store, other, 'operator');
  await store.close();
  const sidecar = await startSidecar({ DATA_DIR: dataDir });
  try {
    const ask = clientOf(sidecar.url);
    const small = await smallBesideLarge(ask);
    const jobWaitS = await jobBesideTunings(ask);
    const probes = await hostile(sidecar, ask);
    return { ...small, job_wait_s: rounded(jobWaitS), ...probes };
  } finally {
    await sidecar.stop();
    await rm(dataDir, { recursive: true });
  }
}

/** Small forecasts of one key while another one has many large ones under way. */
async function smallBesideLarge(ask: Client): Promise<Figures> {
  const small = { path: '/v2/forecast', key: OTHER_KEY, body: forecastBody(1, 200) };
  for (let i = 0; i < 20; i++) await ask(small);
  const alone = await timesOf(() => ask(small), 2_000);
  const body = forecastBody(LARGE_SERIES, 400, ',"level":[80]');
  const enough = new AbortController();
  let answers = 0;
  const busy = Array.from({ length: LARGE_REQUESTS }, async () => {
    while (!enough.signal.aborted) {
      await ask({ path: '/v2/forecast', key: API_KEY, body, signal: enough.signal }).catch(() => {});
      answers++;
    }
  });
  await wait(2_000);
  const beside = await timesOf(() => ask(small), BESIDE_MS);
  enough.abort();
  await Promise.all(busy);
  printTable(
    `forecast of one series, beside ${LARGE_REQUESTS} forecasts of ${LARGE_SERIES} series of another key`,
    ['', 'answers', 'p50 ms', 'p99 ms', 'large answers'],
    [
      ['alone', alone.length, at(alone, 0.5), at(alone, 0.99), 0],
      ['beside', beside.length, at(beside, 0.5), at(beside, 0.99), answers - LARGE_REQUESTS],
    ],
  );
  return { small_alone_p99_ms: rounded(at(alone, 0.99)), small_p99_ms: rounded(at(beside, 0.99)) };
}

/** Seconds until a forecast job of one key has ended beside the fine-tuning jobs of another. */
async function jobBesideTunings(ask: Client): Promise<number> {
  const tuning = forecastBody(4, 600).replace('"h":24', '"finetune_steps":300,"finetune_depth":5');
  const ids: string[] = [];
  for (let i = 0; i < TUNINGS; i++) {
    const { text } = await ask({ path: '/v2/finetune/async', key: API_KEY, body: tuning });
    ids.push(JSON.parse(text).job_id);
  }
  const started = performance.now();
  const { text } = await ask({ path: '/v2/forecast/async', key: OTHER_KEY, body: forecastBody(1, 200) });
  const path = `/v2/forecast/jobs/${JSON.parse(text).job_id}`;
  for (;;) {
    const { status } = JSON.parse((await ask({ path, key: OTHER_KEY })).text);
    if (status === 'succeeded') break;
    if (status === 'failed') throw new Error('the job failed');
    if (performance.now() - started > JOB_MS_MAX) break;
    await wait(20);
  }
  const seconds = (performance.now() - started) / 1_000;
  for (const id of ids) await ask({ path: `/v2/async/jobs/${id}/cancel`, key: API_KEY, body: '' });
  return seconds;
}

/** Each probe by itself: its answer, its cost, and what `/health` notices meanwhile. */
async function hostile(sidecar: Sidecar, ask: Client): Promise<Figures> {
  const start = forecastBody(1, 60).slice(0, -1);
  const filled = (prefix: string, item: string, end: string, bytes: number) =>
    prefix + item.repeat(Math.floor(bytes / item.length)) + end;
  const windows = `{"series":{"y":[${'0,'.repeat(389_999)}0],"sizes":[390000]},"freq":"h","h":100,"n_windows":380000,"step_size":1}`;
  const columns = Array.from({ length: 900 }, () => '["a"]').join();
  const probes: readonly (readonly [string, Omit<Asked, 'key'>])[] = [
    [
      'bomb: unknown objects, 200 MB',
      { path: '/v2/forecast', body: filled(`${start},"z":[`, '{},', '{}]}', 200e6), gzip: true },
    ],
    [
      'bomb: values, 200 MB',
      {
        path: '/v2/forecast',
        body: filled('{"series":{"y":[', '{},', '1],"sizes":[1]},"freq":"h","h":1}', 200e6),
        gzip: true,
      },
    ],
    [
      'depth: 20 M levels',
      { path: '/v2/forecast', body: `${start},"z":${'['.repeat(2e7)}${']'.repeat(2e7)}}`, gzip: true },
    ],
    [
      'width: 900 variables',
      { path: '/v2/forecast', body: start.replace('"series":{', `"series":{"X":[${columns}],`).concat('}') },
    ],
    ['n_windows 380 000', { path: '/v2/cross_validation', body: windows, gzip: true }],
    ['prototype names', { path: '/v2/forecast', body: `${start},"__proto__":{"h":9},"constructor":{"prototype":1}}` }],
    ['path tricks', { path: '/v2/finetuned_models/..%2f..%2fetc%2fpasswd' }],
  ];
  const before = (await sidecar.rssPeakBytes()) / MIB;
  const rows: (string | number)[][] = [];
  let stallMax = 0;
  let bombRss = 0;
  for (const [name, { body, gzip = false, path }] of probes) {
    const payload = gzip ? gzipSync(body ?? '', { level: 1 }) : body;
    const done = new AbortController();
    const stalls = health(ask, done.signal);
    const { status, ms } = await ask({ path, key: API_KEY, gzip, ...(payload !== undefined && { body: payload }) });
    done.abort();
    const stall = Math.max(...(await stalls));
    const rss = (await sidecar.rssPeakBytes()) / MIB;
    stallMax = Math.max(stallMax, stall);
    if (name.startsWith('bomb')) bombRss = Math.max(bombRss, rss - before);
    rows.push([name, payload?.length ?? 0, status, ms, stall, rss]);
  }
  printTable('hostile requests', ['probe', 'bytes sent', 'status', 'ms', 'health ms at most', 'peak rss MiB'], rows);
  return { health_stall_ms_max: rounded(stallMax), bomb_rss_mb: rounded(bombRss) };
}

/** Latencies of `/health`, asked again and again. */
async function health(ask: Client, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [0];
  while (!signal.aborted) {
    times.push((await ask({ path: '/health', key: '-' })).ms);
    await wait(5);
  }
  return times;
}

async function timesOf(work: () => Promise<{ readonly ms: number; readonly status: number }>, forMs: number) {
  const times: number[] = [];
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    const { ms, status } = await work();
    if (status !== 200) throw new Error(`answered ${status}`);
    times.push(ms);
  }
  return times.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
