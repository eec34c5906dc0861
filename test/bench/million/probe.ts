/** Feeds a fleet at a steady rate, reads every score, and reports how long each took, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig } from '../../../src/config/config.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { type BulkProducer, openBulkProducer, type ProducerRecord } from '../../../src/kafka/produce/bulk-producer.ts';
import { Latencies } from '../../fault/soak/latencies.ts';
import { childOptions, report, stopAsked } from '../child.ts';
import { type FleetState, observationOf, STEP_MS, seriesOf, TOPICS } from './fleet.ts';

export interface ProbeOptions extends FleetState {
  readonly kafka: KafkaConfig;
  readonly perSecond: number;
  /** Whole steps that are fed. */
  readonly steps: number;
  /** From the second step on series below it are far from their usual values. */
  readonly movedBelow: number;
  /** Of every so many-th series the scores are kept. */
  readonly sampleEvery: number;
}

export interface Probed {
  readonly scores: number;
  readonly lost: number;
  readonly twice: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The minute whose observations waited longest. */
  readonly worstMinuteP99Ms: number;
  readonly maxMs: number;
  /** Seconds of input that were not scored yet, half-way and when the last was fed. */
  readonly behindHalfWayS: number;
  readonly behindAtEndS: number;
  /** Seconds of the clock in which scores were read that had taken longer than SLOW_MS, in order. */
  readonly slowSeconds: readonly number[];
  readonly firstScoreMs: number;
  /** `series number/step`, score and grade. */
  readonly sample: readonly (readonly [string, number | null, number | null])[];
}

const TICK_MS = 20;
const RETRY_MS = 200;
const SLOW_MS = 5_000;
/** Scores stop arriving for so long: the others are lost. */
const SILENT_MS_MAX = 180_000;
const options = childOptions<ProbeOptions>();
const { kafka, series: count, nextStep, startMs, perSecond, steps, movedBelow, sampleEvery } = options;
const connection = { config: kafka };
const stopping = stopAsked();
const total = steps * count;
/** Steps of each series that were scored. */
const scored = new Uint16Array(count);
const latencies = new Latencies();
const byMinute = new Map<number, Latencies>();
const sample: [string, number | null, number | null][] = [];
const slowSeconds = new Set<number>();
let [scores, twice, early, maxMs, firstScoreMs, lastScoreMs] = [0, 0, 0, 0, 0, Date.now()];
let beganMs = Date.now();

function read(key: Buffer, timestampMs: number, value: Buffer | null, nowMs: number): void {
  const [series, step] = [seriesOf(key), (timestampMs - startMs) / STEP_MS - nextStep];
  // Scores of earlier parts, and of what is silent.
  if (!Number.isInteger(step) || step < 0 || step >= steps) return;
  if (step < scored[series]) twice++;
  else {
    early += step - scored[series];
    scored[series] = step + 1;
  }
  scores++;
  lastScoreMs = nowMs;
  if (firstScoreMs === 0) firstScoreMs = nowMs;
  const sequence = step * count + series;
  const dueMs = beganMs + (sequence * 1_000) / perSecond;
  const ms = nowMs - dueMs;
  latencies.add(ms);
  const minute = Math.floor((dueMs - beganMs) / 60_000);
  if (!byMinute.has(minute)) byMinute.set(minute, new Latencies());
  byMinute.get(minute)!.add(ms);
  maxMs = Math.max(maxMs, ms);
  if (ms > SLOW_MS) slowSeconds.add(Math.ceil(nowMs / 1_000));
  if (series % sampleEvery !== 0) return;
  const { anomalyScore, grade } = JSON.parse(value!.toString());
  sample.push([`${series}/${step + nextStep}`, anomalyScore, grade]);
}

const tail = await tailTopic(
  connection,
  { topic: TOPICS.scores, from: 'latest' },
  {
    onRecords(records) {
      const nowMs = Date.now();
      for (const { key, timestampMs, value } of records) read(key!, timestampMs, value, nowMs);
    },
  },
);
let producer = null as BulkProducer | null;
/** What a broker that ends may or may not have is sent again: the worker drops the repetition. */
async function send(records: readonly ProducerRecord[]): Promise<void> {
  for (;;) {
    try {
      producer ??= await openBulkProducer(connection, TOPICS.observations);
      return await producer.send(records);
    } catch {
      await producer?.close();
      producer = null;
      await sleep(RETRY_MS);
    }
  }
}

report('ready');
beganMs = Date.now();
let behindHalfWayS = 0;
for (let sent = 0; sent < total; ) {
  const due = Math.min(total, Math.floor(((Date.now() - beganMs) * perSecond) / 1_000));
  const records: ProducerRecord[] = [];
  // At most a second together, and one value of each series: a repetition then is not late.
  for (const end = Math.min(due, sent + perSecond, sent + count); sent < end; sent++) {
    const step = Math.floor(sent / count);
    records.push(observationOf(sent % count, nextStep + step, { startMs, movedBelow: step > 0 ? movedBelow : 0 }));
  }
  if (records.length > 0) await send(records);
  if (sent <= total / 2) behindHalfWayS = (sent - scores) / perSecond;
  await sleep(TICK_MS);
}
const behindAtEndS = (total - scores) / perSecond;
while (scores < total && Date.now() - lastScoreMs < SILENT_MS_MAX) await sleep(TICK_MS);
const unscored = scored.reduce((sum, each) => sum + steps - each, 0);
report({
  scores,
  lost: unscored + early,
  twice,
  p50Ms: latencies.quantile(0.5) ?? Number.NaN,
  p99Ms: latencies.quantile(0.99) ?? Number.NaN,
  worstMinuteP99Ms: Math.max(...Array.from(byMinute.values(), (minute) => minute.quantile(0.99) ?? 0)),
  maxMs,
  behindHalfWayS,
  behindAtEndS,
  slowSeconds: [...slowSeconds],
  firstScoreMs,
  sample,
} satisfies Probed);
await stopping;
await producer?.close();
await tail.stop();
process.disconnect();
