/** The thread that plays somebody else: it asks for health and for a small forecast all the time, and times both. */
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface WatcherData {
  readonly url: string;
  readonly key: string;
  readonly body: string;
}

/** What somebody else noticed since the last report. */
export interface Noticed {
  readonly healthMsMax: number;
  readonly forecastMsMax: number;
  /** Forecasts that were not answered with 200. */
  readonly failed: number;
}

const PAUSE_MS = 5;
const { url, key, body } = workerData as WatcherData;
const agent = new Agent({ keepAlive: true });
let noticed = { healthMsMax: 0, forecastMsMax: 0, failed: 0 };

function ask(path: string, payload: string | null): Promise<{ readonly ms: number; readonly status: number }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const startedMs = performance.now();
  const method = payload === null ? 'GET' : 'POST';
  return new Promise((resolve) => {
    const done = (status: number) => resolve({ ms: performance.now() - startedMs, status });
    const asked = request(new URL(path, url), { method, agent, headers }, (answer) => {
      answer.resume().on('end', () => done(answer.statusCode ?? 0));
    });
    asked.on('error', () => done(0)).end(payload ?? undefined);
  });
}

async function watch(name: 'healthMsMax' | 'forecastMsMax', path: string, payload: string | null): Promise<never> {
  for (;;) {
    const { ms, status } = await ask(path, payload);
    noticed = { ...noticed, [name]: Math.max(noticed[name], ms), failed: noticed.failed + (status === 200 ? 0 : 1) };
    await wait(PAUSE_MS);
  }
}

parentPort!.on('message', () => {
  parentPort!.postMessage(noticed satisfies Noticed);
  noticed = { healthMsMax: 0, forecastMsMax: 0, failed: 0 };
});
void watch('healthMsMax', '/health', null);
void watch('forecastMsMax', '/v2/forecast', body);
