/**
 * What real data does to a series, and after how many steps it is judged again: five minutes, windows of two hours. The
 * engine runs on a log in memory; forecasts are free, since only states count.
 */

import { parseFrequency } from '../../src/calendar/frequency.ts';
import { completeDetector } from '../../src/config/complete-detector.ts';
import { type DetectorConfig, settingsDigest } from '../../src/config/config.ts';
import type { Forecaster } from '../../src/forecast/forecaster.ts';
import type { ScoreRecord } from '../../src/record/score-record.ts';
import { bindDetector } from '../../src/stream/engine/unit/bound-detector.ts';
import { streamConfig, streamRun } from '../fixture/stream/stream-run.ts';
import type { Figures } from './bench.ts';
import { FREE_FORECASTER } from './bench-detector.ts';
import { printTable, rounded } from './table.ts';

/** A forecast of any context, also of one that ends in missing values. */
const FORECASTER: Forecaster = {
  limits: FREE_FORECASTER.limits,
  forecast: async ({ rows, horizon }) => new Float32Array(rows * horizon),
};

const STEP_MS = 300_000;
const START_MS = Date.UTC(2025, 0, 1);
const CONTEXT = 512;
/** Steps before the trouble: more than calibration and context need. */
const BEFORE = 1_000;
const AFTER = 600;
const HOURS_23 = 23 * 12;
const OUTAGE = 25;
const DAY = 288;

/** Time in steps, also between two of them, and value. */
type Arrival = readonly [at: number, value: number];

export async function run(): Promise<Figures> {
  const jitter = await jitterDropped();
  const wrongTime = await blindSteps([...clean(0, BEFORE), [BEFORE + HOURS_23, 1], ...clean(BEFORE, BEFORE + AFTER)]);
  const outage = await blindSteps([...clean(0, BEFORE), ...clean(BEFORE + OUTAGE, BEFORE + OUTAGE + AFTER)]);
  const longOutage = await blindSteps([...clean(0, BEFORE), ...clean(BEFORE + DAY, BEFORE + DAY + AFTER)]);
  const change = await blindSteps(clean(0, BEFORE + AFTER), detectorWith(12));
  const restart = await blindSteps(clean(0, BEFORE + AFTER), detectorWith(24));
  printTable(
    'what happens, and how many observations are not judged after it',
    ['situation', 'not judged'],
    [
      ['first sample half a step beside the grid, then 1 s of jitter: dropped of 2,000', jitter],
      ['one record 23 h ahead', wrongTime],
      [`outage of ${OUTAGE} steps`, outage],
      [`outage of ${DAY} steps, a day`, longOutage],
      ['h changed from 24 to 12', change],
      ['restart', restart],
    ],
  );
  return {
    jitter_dropped: rounded(jitter),
    wrong_time_blind_steps: wrongTime,
    outage_blind_steps: outage,
    long_outage_blind_steps: longOutage,
    change_blind_steps: change,
    restart_blind_steps: restart,
  };
}

function clean(from: number, to: number): Arrival[] {
  return Array.from({ length: to - from }, (_, i) => [from + i, valueAt(from + i)]);
}

function valueAt(step: number): number {
  return 100 + 20 * Math.sin((2 * Math.PI * step) / 288) + ((step * 7_919) % 101) / 50;
}

async function jitterDropped(): Promise<number> {
  const jitter = (i: number) => (((i * 7_919) % 101) - 50) / 50 / 300;
  const arrivals = Array.from({ length: 2_000 }, (_, i): Arrival => [i === 0 ? -0.5 : i + jitter(i), valueAt(i)]);
  const scores = await scored(arrivals, null);
  return arrivals.length - scores.length;
}

/**
 * Observations after the first BEFORE ones without a verdict, up to the last of them.
 * @param changed the detector of a second worker, which begins after BEFORE observations; null: there is one worker
 */
async function blindSteps(arrivals: readonly Arrival[], changed: DetectorConfig | null = null): Promise<number> {
  const judged = new Set(
    (await scored(arrivals, changed)).filter(({ state }) => state === 'scored').map(({ timestampMs }) => timestampMs),
  );
  return arrivals.slice(BEFORE).filter(([at]) => !judged.has(timeOf(at))).length;
}

function timeOf(at: number): number {
  return Math.round(START_MS + at * STEP_MS);
}

async function scored(arrivals: readonly Arrival[], changed: DetectorConfig | null): Promise<ScoreRecord[]> {
  const first = streamRun({ detectors: [detectorWith(24)], forecaster: FORECASTER });
  const append = (some: readonly Arrival[]) => {
    for (const [at, value] of some) {
      const observation = { series: 's', timestamp: timeOf(at), value };
      first.broker.append(0, Buffer.from('s'), Buffer.from(JSON.stringify(observation)));
    }
  };
  append(changed === null ? arrivals : arrivals.slice(0, BEFORE));
  const worker = await first.start(workerOf(detectorWith(24)));
  await first.settled();
  await worker.stop();
  if (changed === null) return first.scores();
  append(arrivals.slice(BEFORE));
  const second = streamRun({ detectors: [changed], forecaster: FORECASTER, broker: first.broker });
  const next = await second.start(workerOf(changed));
  await second.settled();
  await next.stop();
  return second.scores();
}

function workerOf(config: DetectorConfig) {
  const bound = bindDetector(config, { forecaster: FORECASTER, digest: 'free' }, settingsDigest(config));
  return { detectors: [bound], stream: streamConfig([config]) };
}

/** A detector of the defaults, with another horizon. */
function detectorWith(h: number): DetectorConfig {
  const freq = parseFrequency('5min')!;
  const written = completeDetector(
    { name: 'every', series: ['*'], freq, h, detectionSize: 24 },
    { has: () => false, problem: () => {} },
  )!;
  const settings = { ...written.settings, context: CONTEXT, gapLimit: written.settings.gapLimit ?? CONTEXT };
  return { ...written, settings };
}
