/** How fast requests are answered: small ones alone and side by side, a large one, and small ones while a large one is under way. */
import { keyCheck } from '../../src/http/api-key.ts';
import { JobQueue } from '../../src/http/jobs/job-queue.ts';
import { serveModels } from '../../src/http/served-models.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { UsageMeter } from '../../src/http/usage-meter.ts';
import { openCatalog } from '../../src/model/catalog.ts';
import { Forecasters } from '../../src/model/forecaster.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { Figures } from './bench.ts';
import { printTable, rounded } from './table.ts';

const KEY = 'bench';
const MEASURE_MS = 4_000;
const SIDE_BY_SIDE = 8;
const SMALL = { series: 1, length: 500 };
const LARGE = { series: 4_000, length: 1_000 };

interface Latencies {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** @param args name of the model, by default `tsmodel-1`; folder of further models, by default none */
export async function run(args: readonly string[]): Promise<Figures> {
  const catalog = await openCatalog({ modelsDir: args[1] ?? null });
  const model = catalog.get(args[0] ?? 'tsmodel-1');
  const forecasters = await Forecasters.start([model], { threads: 1 });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    checkKey: keyCheck(KEY),
    models: serveModels(catalog, forecasters),
    usage: new UsageMeter(Date.now),
    jobs: new JobQueue(Date.now, createLogger('silent')),
    logger: createLogger('silent'),
    metrics: createMetrics({ collectProcess: false }),
  });
  try {
    return await measureAll(server.url, model.name);
  } finally {
    await server.close(1_000);
    await forecasters.close();
  }
}

async function measureAll(url: string, model: string): Promise<Figures> {
  const small = detectionOf(SMALL, 24, model);
  const large = detectionOf(LARGE, 960, model);
  await post(url, small);
  const alone = await measure(() => post(url, small), 1);
  const crowd = await measure(() => post(url, small), SIDE_BY_SIDE);
  const begun = performance.now();
  await post(url, large);
  const largeMs = performance.now() - begun;
  let underWay = true;
  const busy = (async () => {
    while (underWay) await post(url, large);
  })();
  const beside = await measure(() => post(url, small), 1);
  underWay = false;
  await busy;
  const row = (name: string, { perSecond, p50Ms, p99Ms }: Latencies) => [name, perSecond, p50Ms, p99Ms];
  printTable(
    `online detection of ${SMALL.length} values, one inference thread, client in the same process`,
    ['requests', 'requests/s', 'p50 ms', 'p99 ms'],
    [row('one at a time', alone), row(`${SIDE_BY_SIDE} at a time`, crowd), row('beside a large one', beside)],
  );
  const values = LARGE.series * LARGE.length;
  printTable('one large request', ['MiB', 'values', 'ms'], [[large.length / 2 ** 20, values, largeMs]]);
  return {
    model,
    requests_per_s: rounded(crowd.perSecond),
    p50_ms: rounded(alone.p50Ms),
    p99_ms: rounded(alone.p99Ms),
    beside_large_p99_ms: rounded(beside.p99Ms),
    large_values_per_s: rounded((values / largeMs) * 1_000),
    rss_mb: rounded(process.memoryUsage.rss() / 2 ** 20),
  };
}

/** Asks again and again, as many at a time as `width`. */
async function measure(ask: () => Promise<void>, width: number): Promise<Latencies> {
  const times: number[] = [];
  const begun = performance.now();
  const worker = async () => {
    while (performance.now() - begun < MEASURE_MS) {
      const before = performance.now();
      await ask();
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  const ms = performance.now() - begun;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
  return { perSecond: (times.length / ms) * 1_000, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Bytes, made once: the client shares the processor and the thread of what it measures. */
function detectionOf({ series, length }: typeof SMALL, step: number, model: string): Buffer<ArrayBuffer> {
  const y = Array.from({ length: series * length }, (_, i) => Number((10 + 3 * Math.sin(i / 4)).toFixed(5)));
  const sizes = new Array(series).fill(length);
  const body = { series: { y, sizes }, freq: 'h', h: 24, detection_size: 24, step_size: step, model };
  return Buffer.from(JSON.stringify(body));
}

async function post(url: string, body: Buffer<ArrayBuffer>): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v2/online_anomaly_detection`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
