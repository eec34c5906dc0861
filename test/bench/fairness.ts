/**
 * What the careless or hostile use of one key costs another: the latency of its small forecasts, the wait of its job,
 * the longest stall of `/health`, and the memory that a bomb takes.
 */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Figures } from './bench.ts';
import { run as hostile, startShared } from './hostile/run.ts';
import { API_KEY } from './sidecar-process.ts';
import { valueAt } from './synthetic-series.ts';
import { printTable, rounded } from './table.ts';

const OTHER_KEY = 'the-key-of-the-other-one';
const LARGE_REQUESTS = 70;
const LARGE_SERIES = 300;
const BESIDE_MS = 15_000;
const TUNINGS = 5;
/** A job that waits longer has waited in vain. */
const JOB_MS_MAX = 120_000;

const column = (length: number) => Array.from({ length }, (_, step) => valueAt(0, step).toFixed(4)).join();

function forecastBody(series: number, length: number, rest = ''): string {
  const y = new Array(series).fill(column(length)).join();
  return `{"series":{"y":[${y}],"sizes":[${new Array(series).fill(length).join()}]},"freq":"h","h":24${rest}}`;
}

interface Asked {
  readonly path: string;
  readonly key: string;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

function clientOf(url: string) {
  const agent = new Agent({ keepAlive: true });
  return async ({ path, key, body, signal }: Asked) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
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
  const sidecar = await startShared(OTHER_KEY);
  let figures: Figures = {};
  try {
    const ask = clientOf(sidecar.url);
    const small = await smallBesideLarge(ask);
    const jobWaitS = await jobBesideTunings(ask);
    figures = { ...small, job_wait_s: rounded(jobWaitS) };
  } finally {
    await sidecar.stop();
  }
  return { ...figures, ...(await hostile()) };
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
