/**
 * Kafka in, Kafka out, exactly once, broker and clients on the same machine. The same records pass through a bare kafkajs, through the
 * engine on a model that costs nothing, and through the engine on the real model; series have full contexts and calibrations.
 */
import type { Topics } from '../../src/config/config.ts';
import type { KafkaConnection } from '../../src/stream/kafka/connection.ts';
import { openFeed } from '../../src/stream/kafka/feed.ts';
import type { Figures } from './bench.ts';
import { runChild, startChild } from './child.ts';
import type { EngineOptions } from './engine-process.ts';
import type { Latencies, LatencyOptions } from './latency-probe.ts';
import { makeTopics, withBroker } from './local-broker.ts';
import type { PassthroughOptions } from './passthrough-process.ts';
import { type Seed, seedChangelog, seedOf } from './seeded-changelog.ts';
import { observationRecord } from './synthetic-series.ts';
import { type Cell, printTable, rounded } from './table.ts';
import type { Throughput } from './throughput.ts';

const INFERENCE_THREADS = 2;
const SENDS = [200, 500, 1_000];
const LATENCY = { seriesCount: 1_000, perSecond: 5_000, warmUpSeconds: 6, seconds: 20 };
/** Records of one send of the input: what a producer gathers in a moment. */
const FED_TOGETHER = 2_000;
/** What random cut forests, the usual engine for this, need on one core, by the operators' own word. */
const FORESTS = 'for comparison, random cut forests: about 5,000 observations/s a core, 1.2 MB a series';

interface Variant {
  readonly name: string;
  readonly model: EngineOptions['model'];
}

const ENGINE: Variant = { name: 'engine, free model', model: 'free' };
const FULL: Variant = { name: 'engine, tsmodel-1', model: 'tsmodel-1' };

interface Case {
  readonly seriesCount: number;
  readonly detectionSize: number;
  readonly steps: number;
  readonly variants: readonly Variant[];
}

const CASES: readonly Case[] = [
  { seriesCount: 1_000, detectionSize: 24, steps: 480, variants: [ENGINE, FULL] },
  { seriesCount: 1_000, detectionSize: 96, steps: 480, variants: [FULL] },
  { seriesCount: 10_000, detectionSize: 24, steps: 48, variants: [ENGINE, FULL] },
];

/** @param args one of `throughput`, `latency`; by default both */
export async function run(args: readonly string[]): Promise<Figures> {
  console.log(FORESTS);
  return withBroker(async (connection) => ({
    ...(args[0] !== 'latency' && (await throughputFigures(connection))),
    ...(args[0] !== 'throughput' && (await latencyFigures(connection))),
  }));
}

async function throughputFigures(connection: KafkaConnection): Promise<Figures> {
  const perSecond = new Map<string, number>();
  const shares = new Map<string, number>();
  const rows: Cell[][] = [];
  const note = (name: string, size: string, throughput: Throughput) => {
    const { observations, seconds, cpuSeconds, modelCpuSeconds } = throughput;
    perSecond.set(`${name} ${size}`, observations / seconds);
    shares.set(`${name} ${size}`, modelCpuSeconds / cpuSeconds);
    const microseconds = (cpuSeconds / observations) * 1e6;
    rows.push([name, size, observations / seconds, microseconds, modelCpuSeconds / cpuSeconds, seconds]);
  };
  let best = 0;
  for (const [index, { seriesCount, detectionSize, steps, variants }] of CASES.entries()) {
    const seed = seedOf(seriesCount, detectionSize, false);
    const input = await makeTopics(connection, `case${index}`);
    await feedObservations(connection, input, seed, steps);
    const observations = seriesCount * steps;
    if (index === 0) {
      for (const recordsPerSend of SENDS) {
        const throughput = await passThrough(connection, input, recordsPerSend, observations);
        best = Math.max(best, throughput.observations / throughput.seconds);
        note('kafkajs', `${recordsPerSend} a send`, throughput);
      }
    }
    const outputs: Topics[] = [];
    for (const { model } of variants) {
      outputs.push(await makeTopics(connection, `case${index}-${model}`, { observations: input.observations }));
    }
    await seedChangelog(
      connection,
      outputs.map(({ changelog }) => changelog),
      seed,
    );
    for (const [i, { name, model }] of variants.entries()) {
      const options = engineOptions(connection, outputs[i]!, model, detectionSize, observations);
      note(name, `${seriesCount} series, h ${detectionSize}`, await measureEngine(options));
    }
  }
  const columns = ['variant', '', 'observations/s', 'processor us each', 'model share', 'seconds'];
  printTable('from the first to the last commit, after a quarter as warm-up', columns, rows);
  const full = perSecond.get(`${FULL.name} 1000 series, h 24`)!;
  return {
    obs_per_s: rounded(full),
    obs_per_s_10000: rounded(perSecond.get(`${FULL.name} 10000 series, h 24`)!),
    engine_obs_per_s: rounded(perSecond.get(`${ENGINE.name} 1000 series, h 24`)!),
    engine_obs_per_s_10000: rounded(perSecond.get(`${ENGINE.name} 10000 series, h 24`)!),
    passthrough_obs_per_s: rounded(best),
    engine_ratio: rounded(perSecond.get(`${ENGINE.name} 1000 series, h 24`)! / best),
    full_ratio: rounded(full / best),
    full_ratio_h96: rounded(perSecond.get(`${FULL.name} 1000 series, h 96`)! / best),
    model_share: rounded(shares.get(`${FULL.name} 1000 series, h 24`)!),
  };
}

async function feedObservations(
  connection: KafkaConnection,
  { observations }: Topics,
  { seriesCount, steps: firstStep }: Seed,
  steps: number,
): Promise<void> {
  const feed = await openFeed(connection, observations);
  const total = seriesCount * steps;
  for (let at = 0; at < total; at += FED_TOGETHER) {
    const together = Math.min(FED_TOGETHER, total - at);
    const record = (_: unknown, i: number) =>
      observationRecord((at + i) % seriesCount, firstStep + Math.floor((at + i) / seriesCount));
    await feed.send(Array.from({ length: together }, record));
  }
  await feed.close();
}

async function passThrough(
  connection: KafkaConnection,
  topics: Topics,
  recordsPerSend: number,
  observations: number,
): Promise<Throughput> {
  const name = `passthrough-${recordsPerSend}`;
  const { scores } = await makeTopics(connection, name, { observations: topics.observations });
  const options: PassthroughOptions = {
    brokers: connection.config.brokers,
    from: topics.observations,
    to: scores,
    groupId: name,
    recordsPerSend,
    observations,
  };
  return runChild<Throughput>('passthrough-process.ts', options);
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
  const engine = startChild<'restored' | Throughput>('engine-process.ts', options);
  let told = await engine.told();
  while (told === 'restored') told = await engine.told();
  await engine.stop();
  return told;
}

async function latencyFigures(connection: KafkaConnection): Promise<Figures> {
  const rows: Cell[][] = [];
  const measured: Latencies[] = [];
  for (const spread of [true, false]) {
    const seed = seedOf(LATENCY.seriesCount, 24, spread);
    const topics = await makeTopics(connection, `latency-${spread ? 'spread' : 'together'}`);
    await seedChangelog(connection, [topics.changelog], seed);
    const engine = startChild<'restored'>('engine-process.ts', engineOptions(connection, topics, 'tsmodel-1', 24, 0));
    await engine.told();
    const options: LatencyOptions = { kafka: connection.config, topics, firstStep: seed.steps, ...LATENCY };
    const latencies = await runChild<Latencies>('latency-probe.ts', options);
    await engine.stop();
    measured.push(latencies);
    const { observations, p50Ms, p99Ms, maxMs } = latencies;
    rows.push([spread ? 'spread' : 'all together', observations, p50Ms, p99Ms, maxMs]);
  }
  const columns = ['windows close', 'observations', 'p50 ms', 'p99 ms', 'max ms'];
  printTable(`from sending to reading, at ${LATENCY.perSecond} observations/s`, columns, rows);
  const [spread, together] = measured as [Latencies, Latencies];
  return {
    p50_ms: rounded(spread.p50Ms),
    p99_ms: rounded(spread.p99Ms),
    together_p50_ms: rounded(together.p50Ms),
    together_p99_ms: rounded(together.p99Ms),
  };
}
