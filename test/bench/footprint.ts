/**
 * Resident memory of each process of an installation, as an operator starts it: with nothing to do, and after it scored
 * or kept a load. On Linux: read from /proc, so that nothing of the process takes part.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTopicEnds } from '../../src/kafka/admin/consumer-group.ts';
import type { KafkaConnection } from '../../src/kafka/cluster/connection.ts';
import { produceRecords } from '../../src/kafka/produce/bulk-producer.ts';
import { until } from '../fixture/until.ts';
import type { Figures } from './bench.ts';
import { makeTopics, withBroker } from './local-broker.ts';
import { type Cell, printTable, rounded } from './table.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const SERIES = 1_500;
const STEPS = 150;
const STEP_MS = 300_000;
const BATCH = 5_000;
/** What a start, or a load, leaves behind is collected in this time. */
const SETTLE_MS = 15_000;
const WAIT = { waitMsMax: 180_000, everyMs: 250 };

interface Measured {
  readonly rssMb: number;
  readonly peakMb: number;
}

export async function run(): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-footprint-'));
  const children: ChildProcess[] = [];
  try {
    return await withBroker((connection) => measure(connection, folder, children));
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(connection: KafkaConnection, folder: string, children: ChildProcess[]): Promise<Figures> {
  const topics = await makeTopics(connection, 'footprint');
  const { observations, scores, events, changelog, deadLetters } = topics;
  const detectors = join(folder, 'detectors.yaml');
  await writeFile(
    detectors,
    `topics: {observations: ${observations}, scores: ${scores}, events: ${events}, changelog: ${changelog}, dead_letters: ${deadLetters}}\n` +
      'detectors: [{name: all, series: "*", freq: 5min, h: 24, detection_size: 24}]\n',
  );
  const kafka = { KAFKA_BROKERS: connection.config.brokers.join(), DETECTORS: detectors };
  const start = async (name: string, command: string, env: Readonly<Record<string, string>>) => {
    const child = spawn(process.execPath, [MAIN, command], {
      env: { PATH: process.env.PATH, DATA_DIR: join(folder, name), OPS_PORT: '0', HTTP_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await until(`${name} is ready`, () => /worker started|serving/.test(out) || child.exitCode !== null, WAIT);
    if (child.exitCode !== null) throw new Error(`${name} ended: ${out}`);
    return child;
  };
  const stop = async (child: ChildProcess) => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  // The first start of all compiles the modules, and keeps them for the others.
  for (const command of ['worker', 'serve']) await stop(await start(`first-${command}`, command, kafka));
  const found = new Map<string, Measured>();
  const settled = async (name: string, child: ChildProcess) => {
    await sleep(SETTLE_MS);
    found.set(name, await memoryOf(child));
  };
  const worker = await start('worker', 'worker', kafka);
  const alone = await start('serve', 'serve', {});
  const keeping = await start('history', 'serve', kafka);
  await Promise.all([settled('worker', worker), settled('serve', alone), settled('serve_history', keeping)]);
  await stop(alone);
  await feed(connection, observations);
  await until('everything is scored', async () => (await endOf(connection, scores)) >= SERIES * STEPS, WAIT);
  await Promise.all([settled('worker_loaded', worker), settled('serve_history_loaded', keeping)]);
  const rows = Array.from(found, ([name, { rssMb, peakMb }]): Cell[] => [name, rssMb, peakMb]);
  const title = `Memory of each process; loaded: ${SERIES} series, ${SERIES * STEPS} observations`;
  printTable(title, ['process', 'rss MiB', 'peak MiB'], rows);
  const figures = Array.from(found, ([name, { rssMb, peakMb }]) => [
    [`${name}_rss_mb`, rounded(rssMb)],
    [`${name}_peak_rss_mb`, rounded(peakMb)],
  ]);
  return Object.fromEntries(figures.flat());
}

async function memoryOf({ pid }: ChildProcess): Promise<Measured> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
  return { rssMb: field('VmRSS'), peakMb: field('VmHWM') };
}

async function feed(connection: KafkaConnection, topic: string): Promise<void> {
  const startMs = Date.UTC(2025, 0, 1);
  let batch: { readonly key: Buffer; readonly value: Buffer }[] = [];
  for (let step = 0; step < STEPS; step++) {
    for (let n = 0; n < SERIES; n++) {
      const series = `host-${n}/cpu`;
      const value = 50 + 20 * Math.sin((step + n) / 45) + ((step * 7_919 + n) % 17) / 8;
      const record = { series, timestamp: startMs + step * STEP_MS, value };
      batch.push({ key: Buffer.from(series), value: Buffer.from(JSON.stringify(record)) });
    }
    if (batch.length < BATCH) continue;
    await produceRecords(connection, topic, batch);
    batch = [];
  }
  if (batch.length > 0) await produceRecords(connection, topic, batch);
}

/** Markers of transactions count as records: it may be ahead of the scores by a few. */
async function endOf(connection: KafkaConnection, topic: string): Promise<number> {
  const ends = await readTopicEnds(connection, [topic]);
  return (ends.get(topic) ?? []).reduce((sum, { endOffset }) => sum + endOffset, 0);
}
