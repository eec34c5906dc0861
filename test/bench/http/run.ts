/**
 * Latency of the HTTP service: many series in a request, one series alone and under load, the largest body, paths.
 * `simulate` measures paths alone.
 */
import { Agent } from 'node:http';
import type { Figures } from '../bench.ts';
import { valueAt } from '../synthetic-series.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { ask, askAgain, type Latencies, type Question } from './http-load.ts';
import { type Sidecar, startSidecar } from './sidecar-process.ts';

const DAILY = { series: 1_000, length: 730 };
const HOURLY = { series: 10_000, length: 500 };
const PATHS = { series: 10, length: 500 };
const SIMULATION = { freq: 'h', h: 24, n_paths: 1_000, seed: 7 };
const DETECTION = { model: 'tsmodel-1-detection' };
const ONLINE = { ...DETECTION, freq: 'h', h: 24, detection_size: 48 };
const LARGE_BYTES = 200 * 2 ** 20;
/** Few forecasts of many values: what the body takes is asked, not what the model does. */
const LARGE_LENGTH = 2_000;
const CONNECTIONS = [1, 16, 64];
const ALONE_MS = 3_000;
const UNDER_LOAD_MS = 8_000;

export async function run(args: readonly string[]): Promise<Figures> {
  const sidecar = await startSidecar();
  if (args.includes('simulate')) return measurePaths(sidecar).finally(() => sidecar.stop());
  const many = await measureMany(sidecar)
    .then(async (figures) => ({ ...figures, ...(await measurePaths(sidecar)) }))
    .finally(() => sidecar.stop());
  // Another process: the peak is that of this body alone.
  const fresh = await startSidecar();
  const large = await measureLarge(fresh).finally(() => fresh.stop());
  return { ...many, ...large };
}

async function measureMany(sidecar: Sidecar): Promise<Figures> {
  const check = onlineDetection({ ...HOURLY, series: 1 });
  await askAgain(sidecar.url, check, 1, 500);
  const alone: Latencies[] = [];
  for (const connections of CONNECTIONS) {
    alone.push(await askAgain(sidecar.url, check, connections, ALONE_MS));
  }
  const daily = await measureOne(sidecar, question('/v2/anomaly_detection', DAILY, { ...DETECTION, freq: 'D' }));
  const large = onlineDetection(HOURLY);
  const hourly = await measureOne(sidecar, large);
  const underLoad = await checksUnderLoad(sidecar, check, large);
  const row = (of: string, { series, length }: typeof DAILY, one: Answered): Cell[] => [
    of,
    series,
    length,
    one.mib,
    one.seconds,
    one.forecasts,
    one.modelShare,
  ];
  printTable(
    'many series in one request',
    ['request', 'series', 'values each', 'MiB', 's', 'forecasts', 'model share of cpu'],
    [row('anomaly_detection, daily', DAILY, daily), row('online_anomaly_detection, hourly', HOURLY, hourly)],
  );
  const latencyRows = (of: string, latencies: readonly Latencies[]) =>
    latencies.map((l, i): Cell[] => [of, CONNECTIONS[i], l.answers, l.perSecond, l.p50Ms, l.p99Ms]);
  printTable(
    `online detection of one series of ${HOURLY.length} values`,
    ['', 'connections', 'answers', 'answers/s', 'p50 ms', 'p99 ms'],
    [...latencyRows('alone', alone), ...latencyRows(`next to ${HOURLY.series} series`, underLoad)],
  );
  return {
    detect_1000_daily_s: rounded(daily.seconds),
    online_10000_hourly_s: rounded(hourly.seconds),
    check_p50_ms: rounded(alone[0].p50Ms),
    check_p99_ms: rounded(alone[0].p99Ms),
    check_under_load_p99_ms: rounded(underLoad[0].p99Ms),
    model_share: rounded(hourly.modelShare),
  };
}

/** Checks while the large request is under way, asked again whenever it is answered; aborts the last of them. */
async function checksUnderLoad(sidecar: Sidecar, check: Question, large: Question): Promise<Latencies[]> {
  const agent = new Agent({ keepAlive: true });
  const enough = new AbortController();
  const busy = (async () => {
    while (!enough.signal.aborted) await ask(sidecar.url, large, agent, enough.signal);
  })().catch((error: Error) => {
    if (!enough.signal.aborted) throw error;
  });
  const underLoad: Latencies[] = [];
  try {
    for (const connections of CONNECTIONS) {
      underLoad.push(await askAgain(sidecar.url, check, connections, UNDER_LOAD_MS));
    }
  } finally {
    enough.abort();
  }
  await busy;
  agent.destroy();
  return underLoad;
}

/** The fastest of some requests: the first one loads the model, others wait for other work of the machine. */
async function measurePaths(sidecar: Sidecar): Promise<Figures> {
  const paths = question('/v2/simulate', PATHS, SIMULATION);
  const answered: Answered[] = [];
  for (let i = 0; i < 10; i++) answered.push(await measureOne(sidecar, paths));
  const { seconds, forecasts, modelShare } = answered.reduce((best, one) => (one.seconds < best.seconds ? one : best));
  printTable(
    'paths',
    ['series', 'paths', 'steps', 's', 'forecasts', 'model share of cpu'],
    [[PATHS.series, SIMULATION.n_paths, SIMULATION.h, seconds, forecasts, modelShare]],
  );
  return { simulate_s: rounded(seconds) };
}

async function measureLarge(sidecar: Sidecar): Promise<Figures> {
  const idleBytes = await sidecar.rssPeakBytes();
  const one = columnOf(LARGE_LENGTH);
  const settings = { ...ONLINE, step_size: LARGE_LENGTH };
  const { body } = question('', { series: 1, length: LARGE_LENGTH }, settings);
  // One more series adds its values, a comma, its size and another comma.
  const oneMore = one.length + `,${LARGE_LENGTH},`.length;
  const series = 1 + Math.floor((LARGE_BYTES - body.length) / oneMore);
  const large = question('/v2/online_anomaly_detection', { series, length: LARGE_LENGTH }, settings);
  const { seconds } = await measureOne(sidecar, large);
  const rssBytes = await sidecar.rssPeakBytes();
  printTable(
    'a large body',
    ['MiB', 'series', 'values', 's', 'rss MiB before', 'rss MiB at most'],
    [[large.body.length / 2 ** 20, series, series * LARGE_LENGTH, seconds, idleBytes / 2 ** 20, rssBytes / 2 ** 20]],
  );
  return { rss_200mib_mb: rounded(rssBytes / 2 ** 20) };
}

/** A request alone, and what it took. */
interface Answered {
  readonly mib: number;
  readonly seconds: number;
  readonly forecasts: number;
  /** Processor time inside the model over that of the process. */
  readonly modelShare: number;
}

async function measureOne(sidecar: Sidecar, question: Question): Promise<Answered> {
  const before = await workOf(sidecar);
  const seconds = (await ask(sidecar.url, question, new Agent())) / 1_000;
  const after = await workOf(sidecar);
  return {
    mib: question.body.length / 2 ** 20,
    seconds,
    forecasts: after.forecasts - before.forecasts,
    modelShare: (after.modelS - before.modelS) / (after.processS - before.processS),
  };
}

async function workOf({ metric }: Sidecar) {
  const [forecasts, modelS, processS] = await Promise.all([
    metric('tidewatch_forecast_rows_total'),
    metric('tidewatch_forecast_cpu_seconds_total'),
    metric('process_cpu_seconds_total'),
  ]);
  return { forecasts, modelS, processS };
}

function onlineDetection(size: typeof HOURLY): Question {
  return question('/v2/online_anomaly_detection', size, ONLINE);
}

/** The values of all series are the same: no series knows of another, and so the body is made fast. */
function question(path: string, { series, length }: typeof DAILY, settings: object): Question {
  const y = new Array(series).fill(columnOf(length)).join();
  const sizes = new Array(series).fill(length).join();
  const rest = JSON.stringify(settings).slice(1);
  return { path, body: Buffer.from(`{"series":{"y":[${y}],"sizes":[${sizes}]},${rest}`) };
}

function columnOf(length: number): string {
  return Array.from({ length }, (_, step) => valueAt(0, step).toFixed(4)).join();
}
