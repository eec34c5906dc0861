/** What the history of a fleet costs: scores stored, one series read, the worst series found, bytes on disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckdb } from '../../src/history/duckdb-history.ts';
import { openHistory } from '../../src/history/kept-history.ts';
import type { HistoryBatch, HistoryStore, KeptScore } from '../../src/history/port/history-port.ts';
import type { HistoryDatabase } from '../../src/history/sql/history-database.ts';
import { keptScores } from '../../src/run/history/history-records.ts';
import { createScoreDecoder } from '../../src/stream/codec/score-decoder.ts';
import { scoreRecord } from '../fixture/stream/score-record.ts';
import type { Figures } from './bench.ts';
import { printTable, rounded } from './table.ts';

const DAYS = 14;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
/** Reads of each kind. */
const READS = 40;
/** Records that are decoded. */
const DECODED = 100_000;

interface OpenedHistory {
  readonly database: HistoryDatabase;
  close(): Promise<void>;
}

/** @param args series (10,000); scores of a series in a day (144); its MiB (256) */
export async function run(args: readonly string[]): Promise<Figures> {
  const [series = '10000', perDay = '144', memoryMb = '256'] = args;
  const { database, close } = await openFile(Number(memoryMb));
  const history = await openHistory(database, { bounds: { days: DAYS, gb: 1_000 } });
  try {
    const fleet = { series: Number(series), steps: DAYS * Number(perDay), stepMs: DAY_MS / Number(perDay) };
    const stored = await store(history, fleet);
    const decoded = await decodeRate();
    const reads = await measureReads(history, fleet);
    await history.maintain();
    const { scores, bytes } = await history.state();
    const figures = { ...stored, decoded_scores_per_s: decoded, ...reads, bytes_per_score: rounded(bytes / scores) };
    printTable(
      `history of ${fleet.series} series over ${DAYS} days: ${scores} scores`,
      ['figure', 'value'],
      Object.entries(figures),
    );
    return { series: fleet.series, scores, ...figures };
  } finally {
    await history.close();
    await close();
  }
}

async function openFile(memoryMb: number): Promise<OpenedHistory> {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-bench-history-'));
  const database = await openDuckdb(join(folder, 'history.duckdb'), { memoryMb });
  return { database, close: () => rm(folder, { recursive: true, force: true }) };
}

interface Fleet {
  readonly series: number;
  readonly steps: number;
  readonly stepMs: number;
}

/** Every time step is a batch, as a worker that scores all series at once would give it. */
async function store(history: HistoryStore, fleet: Fleet) {
  let [storedMs, slowestMs] = [0, 0];
  const before = process.cpuUsage();
  let madeUs = 0;
  for (let step = 0; step < fleet.steps; step++) {
    const cpu = process.cpuUsage();
    const batch = batchAt(fleet, step);
    const { user, system } = process.cpuUsage(cpu);
    madeUs += user + system;
    const startedMs = performance.now();
    await history.append(batch);
    const tookMs = performance.now() - startedMs;
    storedMs += tookMs;
    slowestMs = Math.max(slowestMs, tookMs);
  }
  const { user, system } = process.cpuUsage(before);
  const scores = fleet.series * fleet.steps;
  return {
    scores_per_s: Math.round(scores / (storedMs / 1_000)),
    cpu_us_per_score: rounded((user + system - madeUs) / scores),
    slowest_batch_ms: rounded(slowestMs),
  };
}

function batchAt({ series, stepMs }: Fleet, step: number): HistoryBatch {
  const scores = Array.from({ length: series }, (_, i): KeptScore => {
    const forecast = 50 + (i % 97) + 10 * Math.sin(step / 24 + i);
    const noise = ((i * 7_919 + step * 104_729) % 1_000) / 500 - 1;
    const spread = 2 + (i % 7) / 10;
    const grade = ((i * 31 + step * 17) % 1_000) / 1_000;
    return {
      ...{
        partition: 0,
        offset: step * series + i,
        series: `host-${i}/cpu`,
        detector: `detector-${i % 5}`,
        group: null,
      },
      timestampMs: START_MS + step * stepMs,
      value: forecast + noise,
      forecast,
      lo: forecast - spread,
      hi: forecast + spread,
      anomalyScore: noise,
      grade,
      severity: grade * 12,
      alarm: grade > 0.998,
      anomaly: grade > 0.99,
      state: 'scored',
    };
  });
  const nextOffset = (step + 1) * series;
  const positions = [{ source: 'scores', topicId: 'bench', partition: 0, nextOffset } as const];
  return { scores, events: [], incidents: [], deadLetters: [], positions };
}

/** Records of the topic read in a second by the thread of the history. */
async function decodeRate(): Promise<number> {
  const value = Buffer.from(JSON.stringify(scoreRecord()));
  const records = Array.from({ length: 10_000 }, (_, offset) => {
    return { partition: 0, offset, timestampMs: 0, key: null, value, headers: [] };
  });
  const decode = createScoreDecoder('json');
  const startedMs = performance.now();
  for (let done = 0; done < DECODED; done += records.length) await keptScores(records, decode);
  return Math.round(DECODED / ((performance.now() - startedMs) / 1_000));
}

async function measureReads(history: HistoryStore, { series }: Fleet) {
  const name = (i: number) => `host-${(i * 7_919) % series}/cpu`;
  const range = (i: number, pointsMax: number) => ({ series: name(i), fromMs: null, toMs: null, pointsMax });
  const worst = {
    detector: null,
    group: null,
    match: null,
    search: null,
    alarm: false,
    sort: 'grade',
    after: null,
  } as const;
  const downsampled = await timed((i) => history.scores(range(i, 1_000)));
  const whole = await timed((i) => history.scores(range(i, 100_000)));
  const worst50 = await timed(() => history.listSeries({ ...worst, recent: 0, limit: 50 }));
  const sparks = await timed(() => history.listSeries({ ...worst, recent: 60, limit: 50 }));
  return {
    series_14_days_p50_ms: downsampled.p50,
    series_14_days_p99_ms: downsampled.p99,
    series_14_days_whole_p50_ms: whole.p50,
    series_14_days_whole_p99_ms: whole.p99,
    worst_50_p50_ms: worst50.p50,
    worst_50_p99_ms: worst50.p99,
    worst_50_with_60_values_p50_ms: sparks.p50,
  };
}

async function timed(read: (i: number) => Promise<unknown>) {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) {
    const startedMs = performance.now();
    await read(i);
    times.push(performance.now() - startedMs);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => rounded(times[Math.min(READS - 1, Math.floor(share * READS))]);
  return { p50: at(0.5), p99: at(0.99) };
}
