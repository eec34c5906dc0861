/**
 * Kafka in, Kafka out, exactly once, broker and clients on the same machine. The same records pass through a bare
 * kafkajs, through the engine on a model that costs nothing, and through the engine on the real model; series have full
 * contexts and calibrations.
 */
import { loadavg } from 'node:os';
import type { Topics } from '../../../src/config/config.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { openBulkProducer } from '../../../src/kafka/produce/bulk-producer.ts';
import type { Figures } from '../bench.ts';
import { runChild, startChild } from '../child.ts';
import { makeTopics, withBroker } from '../local-broker.ts';
import { type Seed, seedChangelog, seedOf } from '../seeded-changelog.ts';
import { observationRecord } from '../synthetic-series.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import type { EngineOptions } from './engine-process.ts';
import type { Latencies, LatencyOptions } from './latency-probe.ts';
import type { PassthroughOptions } from './passthrough-process.ts';
import type { Throughput } from './throughput.ts';

const INFERENCE_THREADS = 2;
/** Records a send of the pass-through, one after the other by round. */
const SENDS = [200, 500, 1_000];
const LATENCY = { seriesCount: 1_000, perSecond: 5_000, warmUpSeconds: 4, seconds: 20 };
/** Records of one send of the input: what a producer gathers in a moment. */
const FED_TOGETHER = 2_000;

type Variant = 'pass-through' | 'free' | 'tsmodel-1-detection';

const NAMES: Readonly<Record<Variant, string>> = {
  'pass-through': 'bare kafkajs',
  free: 'engine, free model',
  'tsmodel-1-detection': 'engine, tsmodel-1-detection',
};

interface Case {
  readonly seriesCount: number;
  readonly detectionSize: number;
  /** A quarter is warm-up; the rest is whole windows. */
  readonly steps: number;
  readonly variants: readonly Variant[];
  readonly rounds: number;
}

/** On a machine that does other things too, the best of a few rounds, taken in turns, says the most. */
const CASES: readonly Case[] = [
  {
    seriesCount: 1_000,
    detectionSize: 24,
    steps: 384,
    variants: ['pass-through', 'free', 'tsmodel-1-detection'],
    rounds: 3,
  },
  { seriesCount: 1_000, detectionSize: 96, steps: 512, variants: ['tsmodel-1-detection'], rounds: 2 },
  { seriesCount: 10_000, detectionSize: 24, steps: 64, variants: ['free', 'tsmodel-1-detection'], rounds: 2 },
];

/** @param args one of `throughput`, `latency`; by default both */
export async function run(args: readonly string[]): Promise<Figures> {
  return {
    // Other load on the machine shows in every figure.
    load: rounded(loadavg()[0]),
    ...(args[0] !== 'throughput' && (await withBroker(latencyFigures))),
    ...(args[0] !== 'latency' && (await withBroker(throughputFigures))),
  };
}

async function throughputFigures(connection: KafkaConnection): Promise<Figures> {
  const rows: Cell[][] = [];
  const best = new Map<string, Throughput>();
  for (const each of CASES) {
    const { seriesCount, detectionSize } = each;
    for await (const [variant, throughput] of measureCase(connection, each)) {
      const { observations, seconds, cpuSeconds, modelCpuSeconds } = throughput;
      const settings = `${seriesCount} series, h ${detectionSize}`;
      const share = modelCpuSeconds / cpuSeconds;
      rows.push([NAMES[variant], settings, observations / seconds, (cpuSeconds / observations) * 1e6, share, seconds]);
      const key = `${variant} ${settings}`;
      if (speed(throughput) > speed(best.get(key))) best.set(key, throughput);
    }
  }
  const columns = ['variant', '', 'observations/s', 'processor us each', 'model share', 'seconds'];
  printTable('from the first to the last commit, after a quarter as warm-up', columns, rows);
  const at = (variant: Variant, settings: string) => best.get(`${variant} ${settings}`);
  const passthrough = speed(at('pass-through', '1000 series, h 24'));
  const engine = speed(at('free', '1000 series, h 24'));
  const full = at('tsmodel-1-detection', '1000 series, h 24')!;
  return {
    obs_per_s: rounded(speed(full)),
    obs_per_s_10000: rounded(speed(at('tsmodel-1-detection', '10000 series, h 24'))),
    engine_obs_per_s: rounded(engine),
    engine_obs_per_s_10000: rounded(speed(at('free', '10000 series, h 24'))),
    passthrough_obs_per_s: rounded(passthrough),
    engine_ratio: rounded(engine / passthrough),
    full_ratio: rounded(speed(full) / passthrough),
    full_ratio_h96: rounded(speed(at('tsmodel-1-detection', '1000 series, h 96')) / passthrough),
    model_share: rounded(full.modelCpuSeconds / full.cpuSeconds),
  };
}

function speed(throughput: Throughput | undefined): number {
  return throughput === undefined ? 0 : throughput.observations / throughput.seconds;
}

async function* measureCase(connection: KafkaConnection, each: Case): AsyncGenerator<[Variant, Throughput]> {
  const { seriesCount, detectionSize, steps, variants, rounds } = each;
  const name = `${seriesCount}-${detectionSize}`;
  const seed = seedOf(seriesCount, detectionSize, true);
  const observations = seriesCount * steps;
  const input = await makeTopics(connection, name);
  await feedObservations(connection, input, seed, steps);
  const shared = { observations: input.observations };
  const runs: { variant: Variant; round: number; topics: Topics }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) {
      runs.push({ variant, round, topics: await makeTopics(connection, `${name}-${variant}-${round}`, shared) });
    }
  }
  const engines = runs.filter(({ variant }) => variant !== 'pass-through');
  const changelogs = engines.map(({ topics }) => topics.changelog);
  await seedChangelog(connection, changelogs, seed, 'compacted');
  for (const { variant, round, topics } of runs) {
    if (variant === 'pass-through') {
      yield [variant, await passThrough(connection, topics, SENDS[round % SENDS.length], observations)];
    } else {
      const options = engineOptions(connection, topics, variant, detectionSize, observations);
      yield [variant, await measureEngine(options)];
    }
  }
}

async function feedObservations(
  connection: KafkaConnection,
  { observations }: Topics,
  { seriesCount, steps: firstStep }: Seed,
  steps: number,
): Promise<void> {
  const producer = await openBulkProducer(connection, observations);
  const total = seriesCount * steps;
  for (let at = 0; at < total; at += FED_TOGETHER) {
    const together = Math.min(FED_TOGETHER, total - at);
    const record = (_: unknown, i: number) =>
      observationRecord((at + i) % seriesCount, firstStep + Math.floor((at + i) / seriesCount));
    await producer.send(Array.from({ length: together }, record));
  }
  await producer.close();
}

function passThrough(
  { config: { brokers } }: KafkaConnection,
  { observations: from, scores: to }: Topics,
  recordsPerSend: number,
  observations: number,
): Promise<Throughput> {
  const options: PassthroughOptions = { brokers, from, to, groupId: to, recordsPerSend, observations };
  // kafkajs sets timers with negative delays; src/kafka/cluster/kafkajs.ts does not.
  return runChild<Throughput>('stream/passthrough-process.ts', options, {
    NODE_OPTIONS: '--disable-warning=TimeoutNegativeWarning',
  });
}

function engineOptions(
  { config: kafka }: KafkaConnection,
  topics: Topics,
  model: EngineOptions['model'],
  detectionSize: number,
  observations: number,
): EngineOptions {
  const inferenceThreads = INFERENCE_THREADS;
  return { kafka, topics, groupId: topics.scores, model, inferenceThreads, detectionSize, observations };
}

async function measureEngine(options: EngineOptions): Promise<Throughput> {
  const engine = startChild<'restored' | Throughput>('stream/engine-process.ts', options);
  let report = await engine.next();
  while (report === 'restored') report = await engine.next();
  await engine.stop();
  return report;
}

async function latencyFigures(connection: KafkaConnection): Promise<Figures> {
  const rows: Cell[][] = [];
  const best = new Map<string, Latencies>();
  for (const [round, closing] of (['spread', 'all together', 'spread'] as const).entries()) {
    const seed = seedOf(LATENCY.seriesCount, 24, closing === 'spread');
    const topics = await makeTopics(connection, `latency-${round}`);
    await seedChangelog(connection, [topics.changelog], seed, 'compacted');
    const engine = startChild<'restored'>(
      'stream/engine-process.ts',
      engineOptions(connection, topics, 'tsmodel-1-detection', 24, 0),
    );
    await engine.next();
    const options: LatencyOptions = { kafka: connection.config, topics, firstStep: seed.steps, ...LATENCY };
    const latencies = await runChild<Latencies>('stream/latency-probe.ts', options);
    await engine.stop();
    const { observations, p50Ms, p99Ms, maxMs } = latencies;
    rows.push([closing, observations, p50Ms, p99Ms, maxMs]);
    const known = best.get(closing);
    if (known === undefined || p99Ms < known.p99Ms) best.set(closing, latencies);
  }
  const columns = ['windows close', 'observations', 'p50 ms', 'p99 ms', 'max ms'];
  printTable(`from sending to reading, at ${LATENCY.perSecond} observations/s`, columns, rows);
  const spread = best.get('spread')!;
  const together = best.get('all together')!;
  return {
    p50_ms: rounded(spread.p50Ms),
    p99_ms: rounded(spread.p99Ms),
    together_p50_ms: rounded(together.p50Ms),
    together_p99_ms: rounded(together.p99Ms),
  };
}
