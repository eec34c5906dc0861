/**
 * `npm run bench -- million --part PART [--series N] [--minutes M] [--per-second N] [--workers N] [--spread off]
 * [--folder FOLDER]`:
 * a fleet of series on one machine, with the broker and all processes. Parts share the folder; `seed` fills it.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { type LocalKafka, startKafka } from '../../../src/demo/local-kafka/kafka-broker.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { faultedWorkers } from '../../fault/cluster/faulted-workers.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { removeMembers } from '../../fixture/kafka/group-progress.ts';
import { until } from '../../fixture/until.ts';
import type { Figures } from '../bench.ts';
import { startChild } from '../child.ts';
import { imageMalloc } from '../image-malloc.ts';
import { printTable, rounded } from '../table.ts';
import { differencesOfSample } from './backtested-sample.ts';
import { startConsoleWatch } from './console-watch.ts';
import { type FleetState, GROUP, makeTopics, PARTITIONS, SEEDED_STEPS, STEP_MS, writeDetectors } from './fleet.ts';
import { startIncidentWatch } from './incident-watch.ts';
import type { Probed, ProbeOptions } from './probe.ts';
import { usageOf } from './process-usage.ts';
import { seedFleet } from './seed.ts';

const PARTS = ['seed', 'steady', 'together', 'kill', 'start', 'incident', 'console'] as const;
type Part = (typeof PARTS)[number];
const DAY_MS = 86_400_000;
const SAMPLE_SERIES = 1_000;
const MOVED_SERIES = 10_000;
/** Larger commits: a forecast and a transaction cost less for each observation. */
const COMMIT_INTERVAL_MS = '250';
/** A start takes no longer, and so much for each series. */
const START_MS_MAX = 120_000;
const RESTORE_MS_MAX = 2.5;

interface Options {
  readonly part: Part;
  readonly folder: string;
  /** Of a new fleet. */
  readonly series: number;
  readonly minutes: number;
  readonly spread: FleetState['spread'];
  /** null: one value of each series a minute. */
  readonly perSecond: number | null;
  readonly workers: number;
}

export async function run(args: readonly string[]): Promise<Figures> {
  const options = optionsOf(args);
  await mkdir(options.folder, { recursive: true });
  const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir: join(options.folder, 'kafka') });
  const config = { brokers: kafka.brokers, clientId: 'tidewatch-bench', tls: null, sasl: null };
  try {
    return await (options.part === 'seed' ? seed({ config }, options) : feed({ config }, kafka, options));
  } finally {
    await kafka.stop();
  }
}

function optionsOf(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const options = {
    part: text,
    folder: text,
    series: text,
    minutes: text,
    'per-second': text,
    workers: text,
    spread: text,
  };
  const { values } = parseArgs({ args: [...args], options });
  const part = PARTS.find((each) => each === values.part);
  if (part === undefined) throw new Error(`--part must be one of ${PARTS.join(', ')}`);
  return {
    part,
    folder: resolve(values.folder ?? join(cacheFolder(), 'million')),
    series: Number(values.series ?? 1_000_000),
    minutes: Number(values.minutes ?? 30),
    spread: values.spread === 'off' ? 'off' : 'on',
    perSecond: values['per-second'] === undefined ? null : Number(values['per-second']),
    workers: Number(values.workers ?? Math.max(1, availableParallelism() - 1)),
  };
}

const stateFile = (folder: string) => join(folder, 'fleet.json');

/** Begins a day ago: the parts that follow may be faster than a value a minute, and no value is of the future. */
async function seed(connection: KafkaConnection, { folder, series, spread }: Options): Promise<Figures> {
  if (existsSync(stateFile(folder))) throw new Error(`${folder} has a fleet: remove it, or name another --folder`);
  const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
  const startMs = Math.floor((Date.now() - DAY_MS) / STEP_MS) * STEP_MS - SEEDED_STEPS * STEP_MS;
  await makeTopics(connection);
  const { records, bytes } = await seedFleet(connection, { series, startMs, spread });
  const state: FleetState = { series, startMs, spread, nextStep: SEEDED_STEPS };
  await writeFile(stateFile(folder), JSON.stringify(state));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startedMs) / 1_000;
  return {
    part: 'seed',
    series,
    records,
    changelog_mb: rounded(bytes / 1e6),
    changelog_bytes_per_series: rounded(bytes / series),
    seconds: rounded(seconds),
    cpu_s: rounded((user + system) / 1e6),
  };
}

/** Starts workers on the state, feeds whole steps and reads the scores, while what the part is about happens. */
async function feed(connection: KafkaConnection, kafka: LocalKafka, options: Options): Promise<Figures> {
  const { part, folder } = options;
  const state = JSON.parse(await readFile(stateFile(folder), 'utf8')) as FleetState;
  const { series } = state;
  const perSecond = options.perSecond ?? series / 60;
  const steps = Math.max(1, Math.round((options.minutes * 60 * perSecond) / series));
  const [brokers] = kafka.brokers;
  const logs = freshFolder();
  const detectorsFile = await writeDetectors(folder, state.spread);
  const env = {
    KAFKA_BROKERS: brokers!,
    KAFKA_GROUP_ID: GROUP,
    DETECTORS: detectorsFile,
    DATA_DIR: join(logs, 'data'),
    KAFKA_COMMIT_INTERVAL_MS: COMMIT_INTERVAL_MS,
    ...imageMalloc(),
  };
  const startedMs = Date.now();
  const workers = faultedWorkers({ count: options.workers, folder: logs, detectorsFile, env, isStatic: true });
  workers.startAll();
  const startWatch = (part: Part) => {
    if (part === 'incident') return startIncidentWatch(connection, { folder: logs, env });
    return part === 'console' ? startConsoleWatch(series, env) : null;
  };
  const pids = () => Array.from({ length: workers.count }, (_, at) => workers.pid(at)!);
  const sumOfUsage = () => usageOf(pids());
  try {
    const waitMsMax = START_MS_MAX + RESTORE_MS_MAX * series;
    await until('every partition is restored', () => restoredIn(logs, workers.count), { waitMsMax });
    const [restoredMs, restored] = [Date.now(), sumOfUsage()];
    const movedBelow = part === 'incident' ? Math.min(MOVED_SERIES, Math.ceil(series / 10)) : 0;
    const watch = await startWatch(part);
    const sampleEvery = Math.max(1, Math.floor(series / Math.min(SAMPLE_SERIES, Math.ceil(series / 100))));
    const asked: ProbeOptions = { ...state, kafka: connection.config, perSecond, steps, movedBelow, sampleEvery };
    const probe = startChild<'ready' | Probed>('million/probe.ts', asked);
    await probe.next();
    const reading = probe.next() as Promise<Probed>;
    const disturbed = part === 'kill' ? await disturb(kafka, workers, (series * steps * 1_000) / perSecond) : null;
    const probed = await reading;
    const used = sumOfUsage();
    await probe.stop();
    await writeFile(stateFile(folder), JSON.stringify({ ...state, nextStep: state.nextStep + steps }));
    const watched = await watch?.conclude();
    const compared =
      part === 'kill' ? await differencesOfSample(probed.sample, { state, steps, detectorsFile, folder: logs }) : null;
    const { sample: _, slowSeconds, firstScoreMs, ...figures } = probed;
    const all: Figures = {
      part,
      series,
      spread: state.spread,
      minutes: rounded((series * steps) / perSecond / 60),
      per_second: rounded(perSecond),
      workers: workers.count,
      start_s: rounded((restoredMs - startedMs) / 1_000),
      restore_cpu_s: rounded(restored.cpuS),
      first_score_s: rounded((firstScoreMs - startedMs) / 1_000),
      ...lines(figures),
      worker_cpu_us_per_score: rounded(((used.cpuS - restored.cpuS) / figures.scores) * 1e6),
      workers_rss_mb: rounded(used.rssMb),
      ...(disturbed && caughtUp(disturbed, slowSeconds)),
      ...compared,
      ...watched,
      crashes: workers.crashes.length,
    };
    printTable(
      `million, ${part}`,
      ['figure', 'measured'],
      Object.entries(all).map(([name, value]) => [name, String(value)]),
    );
    return all;
  } finally {
    await workers.stopAll();
    // Otherwise the group would wait for them in the next part.
    await removeMembers(connection, { groupIds: [GROUP] });
  }
}

function lines(probed: Omit<Probed, 'sample' | 'slowSeconds' | 'firstScoreMs'>): Figures {
  const snake = (name: string) =>
    name.replaceAll(/[A-Z]|\d+/g, (part) => (/\d/.test(part) ? part : `_${part.toLowerCase()}`));
  return Object.fromEntries(Object.entries(probed).map(([name, value]) => [snake(name), rounded(value)]));
}

interface Disturbed {
  readonly killedMs: number;
  readonly restartedMs: number;
}

/** Seconds from each fault until no score is late any more. */
function caughtUp({ killedMs, restartedMs }: Disturbed, slowSeconds: readonly number[]): Figures {
  const slowMs = slowSeconds.map((second) => second * 1_000);
  const since = (faultMs: number, endMs: number) =>
    rounded(Math.max(0, ...slowMs.filter((ms) => ms < endMs).map((ms) => ms - faultMs)) / 1_000);
  return {
    caught_up_s: since(killedMs, restartedMs),
    caught_up_after_broker_s: since(restartedMs, Number.POSITIVE_INFINITY),
  };
}

/** Kills a worker after a third of the time, and restarts the broker after two thirds. */
async function disturb(
  kafka: LocalKafka,
  workers: ReturnType<typeof faultedWorkers>,
  durationMs: number,
): Promise<Disturbed> {
  await sleep(durationMs / 3);
  const killedMs = Date.now();
  await workers.replace(0, 'SIGKILL');
  await sleep(durationMs / 3);
  const restartedMs = Date.now();
  await kafka.restart();
  return { killedMs, restartedMs };
}

/** True once the logs of the workers say so for each partition. */
async function restoredIn(folder: string, workers: number): Promise<boolean> {
  const logs = await Promise.all(
    Array.from({ length: workers }, (_, at) => readFile(join(folder, `worker-${at}.log`), 'utf8')),
  );
  const restored = logs.flatMap(
    (log) => log.match(/"partition":\d+,"units":\d+,"seconds":[\d.e-]+,"msg":"restored"/g) ?? [],
  );
  return new Set(restored.map((line) => /\d+/.exec(line)![0])).size === PARTITIONS;
}
