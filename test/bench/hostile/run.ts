/** What each hostile use costs, and what somebody else notices of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createApiKey } from '../../../src/store/api-keys.ts';
import { openDatabase } from '../../../src/store/database/open-store.ts';
import type { Figures } from '../bench.ts';
import { type Sidecar, startSidecar } from '../sidecar-process.ts';
import { printTable, rounded } from '../table.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import type { Noticed, WatcherData } from './watcher.ts';

const OTHER_KEY = 'the-key-of-somebody-else';
const QUIET_MS = 2_000;
const MIB = 2 ** 20;
const SMALL = JSON.stringify({
  series: { y: Array.from({ length: 200 }, (_, t) => Math.round(1e3 * Math.sin(t / 4)) / 1e3), sizes: [200] },
  freq: 'h',
  h: 24,
});

/** A service with a second key, that of somebody else. */
export async function startShared(key: string): Promise<Sidecar> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidewatch-bench-hostile-'));
  const store = await openDatabase({ dataDir, url: null });
  const limits = { models: null, callsPerMinute: null, callsAtOnce: null, credits: null, expiresAtMs: null };
  const other = { id: 'other', owner: 'other', name: 'other', role: 'operator', secret: key, ...limits } as const;
  await createApiKey(store, { ...other, createdAtMs: Date.now() }, 'operator');
  await store.close();
  const sidecar = await startSidecar({ DATA_DIR: dataDir });
  return {
    ...sidecar,
    async stop() {
      await sidecar.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function run(): Promise<Figures> {
  const sidecar = await startShared(OTHER_KEY);
  const data: WatcherData = { url: sidecar.url, key: OTHER_KEY, body: SMALL };
  const watcher = new Worker(new URL('./watcher.ts', import.meta.url), { workerData: data });
  try {
    await noticedBy(watcher);
    await wait(QUIET_MS);
    const quiet = await noticedBy(watcher);
    const rows: (string | number)[][] = [
      ['nothing', 0, '', QUIET_MS, quiet.healthMsMax, quiet.forecastMsMax, quiet.failed, 0],
    ];
    const stallsMs: number[] = [];
    const bombsMb: number[] = [];
    for (const attack of ATTACKS) {
      const { row, noticed, memoryMb } = await probe(attack, sidecar, watcher);
      rows.push(row);
      stallsMs.push(noticed.healthMsMax);
      if (attack.bomb === true) bombsMb.push(memoryMb);
    }
    printTable(
      'hostile uses, one after the other',
      ['use', 'bytes', 'answers', 'ms', 'health ms', 'forecast ms', 'failed', 'memory MiB'],
      rows,
    );
    return {
      health_stall_ms_max: rounded(Math.max(...stallsMs)),
      bomb_rss_mb: rounded(Math.max(...bombsMb)),
      other_forecasts_failed: rows.reduce((sum, row) => sum + Number(row[6]), 0),
    };
  } finally {
    await watcher.terminate();
    await sidecar.stop();
  }
}

/** One use by itself: its answers and its cost, and what somebody else noticed meanwhile. */
async function probe({ name, prepare, run }: Attack, { url, rssPeakBytes }: Sidecar, watcher: Worker) {
  const sent = prepare?.() ?? Buffer.alloc(0);
  const before = await rssPeakBytes();
  await noticedBy(watcher);
  const startedMs = performance.now();
  const answers = await run(url, sent);
  const ms = performance.now() - startedMs;
  const noticed = await noticedBy(watcher);
  const memoryMb = ((await rssPeakBytes()) - before) / MIB;
  const { healthMsMax, forecastMsMax, failed } = noticed;
  return { noticed, memoryMb, row: [name, sent.length, answers, ms, healthMsMax, forecastMsMax, failed, memoryMb] };
}

function noticedBy(watcher: Worker): Promise<Noticed> {
  return new Promise((resolve) => {
    watcher.once('message', resolve);
    watcher.postMessage(null);
  });
}
