import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { InputRecord, SkippedRange } from '../../../src/engine/log/log.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { CONNECTION_MS_MAX, REQUEST_MS_MAX } from '../../../src/kafka/cluster/connection.ts';
import { type TopicRecord, tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { TRANSACTION_MS_MAX } from '../../../src/kafka/produce/transactional-producer.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';
import { until as poll } from '../../fixture/until.ts';
import {
  BROKER_SESSION_MS,
  type BrokerCluster,
  type ClusterNode,
  type ClusterOptions,
  startBrokerCluster,
} from './broker-cluster.ts';
import { Comparison, type Differences } from './comparison.ts';
import { type FaultedWorkers, faultedWorkers } from './faulted-workers.ts';
import { FAULTS, type Fault, type FaultPlace } from './faults.ts';
import { startFeeder } from './feeder.ts';
import { canBeWritten } from './leaders.ts';
import { waitingForMarkers } from './marker-waits.ts';
import { type Oracle, startOracle } from './oracle.ts';
import { noteOutput } from './outcomes.ts';
import { quantileSeconds, Recovery } from './recovery.ts';

const PARTITIONS = 6;
const SERIES = 60;
const WORKERS = 2;
const GROUP = 'faulted';
const SESSION_MS = 6_000;
/** The longest time that a partition may need to score again after a fault, on a busy machine. */
const RECOVERY_MS_MAX = 180_000;
/** Of the start on a busy machine, and of the end. */
const SETTLED_MS_MAX = 180_000;
/** Records of each partition that nobody reads, and how many of them retention leaves. */
const [UNREAD, LEFT] = [60, 20];

/** Small segments, so that the changelog is compacted again and again. */
const CHANGELOG_CONFIG = [
  { name: 'segment.bytes', value: String(1024 * 1024) },
  { name: 'segment.ms', value: '5000' },
  { name: 'min.cleanable.dirty.ratio', value: '0.01' },
  { name: 'max.compaction.lag.ms', value: '5000' },
];

export interface FaultRunOptions {
  readonly minutes: number;
  readonly perSecond: number;
  readonly seed: number;
  /** Left out: faults of any kind. */
  readonly on?: FaultPlace | undefined;
  readonly of?: ClusterOptions;
  readonly log: (text: string) => void;
}

export interface FaultRunFigures extends Differences {
  readonly cycles: number;
  readonly recoveryP50: number | null;
  readonly recoveryP99: number | null;
  /** Since every partition has a leader and its last transaction its markers; and since the leaders alone. */
  readonly brokerRecoveryP99: number | null;
  readonly leaderRecoveryP99: number | null;
  /** Offsets that retention deleted before they were read, as dead letters name them. */
  readonly overtaken: number;
  /** Workers that ended by themselves. */
  readonly crashes: readonly string[];
}

/** What a recovery waits for at most, and cannot be faster than. */
const TIME_OUTS = {
  session_of_a_worker: SESSION_MS,
  session_of_a_broker: BROKER_SESSION_MS,
  connection: CONNECTION_MS_MAX,
  request: REQUEST_MS_MAX,
  transaction: TRANSACTION_MS_MAX,
};

/** A cluster, two workers, faults, and an oracle that compares every record. */
export async function runFaults(options: FaultRunOptions): Promise<FaultRunFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-fault-'));
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const cluster = await startBrokerCluster(folder, options.of);
    closing.push(() => cluster.close());
    await makeTopics(cluster);
    const detectors = detectorsText();
    const detectorsFile = join(folder, 'detectors.yaml');
    await writeFile(detectorsFile, detectors);
    const env = { ...cluster.workerEnv, KAFKA_GROUP_ID: GROUP, KAFKA_SESSION_MS: String(SESSION_MS) };
    const workers = faultedWorkers({ count: WORKERS, folder, detectorsFile, env });
    closing.push(() => workers.stopAll());
    const watched = await watch(cluster, detectors);
    closing.push(() => watched.close());
    workers.startAll();
    const figures = await faultCycles(options, { cluster, workers, watched });
    const { lost, twice, different } = figures;
    if (lost + twice + different + figures.crashes.length === 0)
      closing.unshift(() => rm(folder, { recursive: true, force: true }));
    else options.log(`the logs of workers and brokers are kept in ${folder}`);
    return figures;
  } finally {
    for (const close of closing.reverse()) await close().catch(() => undefined);
  }
}

async function makeTopics({ direct, nodes }: BrokerCluster): Promise<void> {
  await ensureTopics(direct, TOPICS, { partitions: PARTITIONS, replicationFactor: nodes.length, retentionMs: null });
  const configEntries = [{ name: 'cleanup.policy', value: 'compact' }, ...CHANGELOG_CONFIG];
  const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: TOPICS.changelog, configEntries }];
  await asAdmin(direct, 'the changelog was configured', (admin) =>
    admin.alterConfigs({ validateOnly: false, resources }),
  );
}

function detectorsText(): string {
  const { observations, scores, events, changelog, deadLetters } = TOPICS;
  return `topics: { observations: ${observations}, scores: ${scores}, events: ${events}, changelog: ${changelog}, dead_letters: ${deadLetters} }
worker: { commit_interval_ms: 50 }
detectors:
  - { name: steps, series: ["series-1?", "series-2?"], freq: 5min, aggregate: p95, allowed_lateness: 5min, h: 8, detection_size: 8, level: 95, context: 64 }
  - { name: every, series: "*", freq: min, h: 8, detection_size: 8, level: 95, context: 64 }
`;
}

interface Watched {
  readonly comparison: Comparison;
  readonly recovery: Recovery;
  /** Gives the oracle no more records, and waits until it has scored what it has. */
  holdOracle(): Promise<void>;
  /** Tells the oracle of ranges that dead letters name, and goes on after them. */
  resumeOracle(): Promise<void>;
  readonly skipped: ReadonlyMap<number, SkippedRange>;
  close(): Promise<void>;
}

/** Reads what is fed and what is written, past the faults of the links. */
async function watch({ direct }: BrokerCluster, detectors: string): Promise<Watched> {
  const comparison = new Comparison();
  const recovery = new Recovery(PARTITIONS, performance.now());
  const skipped = new Map<number, SkippedRange>();
  const oracle = await startOracle({
    detectors,
    partitions: PARTITIONS,
    onOutputs: (outputs) => {
      for (const { topic, value } of outputs)
        noteOutput(topic, value, { topics: TOPICS, note: (outcome) => comparison.expect(outcome) });
    },
  });
  const ends = new Map<number, number>();
  let held = false;
  const feedOracle = (records: readonly TopicRecord[]) => {
    for (const [partition, some] of Map.groupBy(records, ({ partition }) => partition)) {
      const after = skipped.get(partition)?.last ?? -1;
      const wanted = some.filter(({ offset }) => offset > after && offset >= (ends.get(partition) ?? 0));
      if (wanted.length === 0) continue;
      oracle.take(partition, wanted);
      ends.set(partition, wanted[wanted.length - 1].offset + 1);
    }
  };
  let input = await tailTopic(direct, { topic: TOPICS.observations, from: 'earliest' }, { onRecords: feedOracle });
  const scores = await tailTopic(
    direct,
    { topic: TOPICS.scores, from: 'earliest' },
    {
      onRecords: (records) => {
        for (const { value } of records) {
          noteOutput(TOPICS.scores, value, {
            topics: TOPICS,
            note: (outcome) => {
              recovery.scored(outcome.partition, performance.now());
              comparison.found(outcome);
            },
          });
        }
      },
    },
  );
  const letters = await tailTopic(
    direct,
    { topic: TOPICS.deadLetters, from: 'earliest' },
    {
      onRecords: (records) => {
        for (const { value } of records) {
          noteOutput(TOPICS.deadLetters, value, { topics: TOPICS, note: (outcome) => comparison.found(outcome) });
          noteSkipped(value, skipped);
        }
      },
    },
  );
  return {
    comparison,
    recovery,
    skipped,
    async holdOracle() {
      await input.stop();
      held = true;
      await until('the oracle has caught up', () => hasCaughtUp(oracle, ends));
    },
    async resumeOracle() {
      if (!held) return;
      for (const [partition, range] of skipped) {
        oracle.take(partition, [skippedInput(partition, range)]);
        ends.set(partition, range.last + 1);
      }
      input = await tailTopic(direct, { topic: TOPICS.observations, from: 'earliest' }, { onRecords: feedOracle });
    },
    async close() {
      await Promise.all([input.stop(), scores.stop(), letters.stop()]);
      await oracle.close();
    },
  };
}

function hasCaughtUp(oracle: Oracle, ends: ReadonlyMap<number, number>): boolean {
  return [...ends].every(([partition, end]) => oracle.position(partition) >= end);
}

function skippedInput(partition: number, skipped: SkippedRange): InputRecord {
  return { partition, offset: skipped.last, timestampMs: -1, key: null, value: null, skipped };
}

function noteSkipped(value: Buffer | null, skipped: Map<number, SkippedRange>): void {
  const letter = JSON.parse(String(value)) as {
    readonly reason: string;
    readonly input: { readonly partition: number; readonly offset: number; readonly lastOffset?: number };
  };
  const { partition, offset, lastOffset: last } = letter.input;
  if (letter.reason !== 'records-expired' || last === undefined) return;
  skipped.set(partition, { first: offset, last, reason: 'records-expired' });
}

interface Running {
  readonly cluster: BrokerCluster;
  readonly workers: FaultedWorkers;
  readonly watched: Watched;
}

async function faultCycles(
  { minutes, perSecond, seed, on, log }: FaultRunOptions,
  { cluster, workers, watched }: Running,
): Promise<FaultRunFigures> {
  const { comparison, recovery, skipped } = watched;
  const random = seededRandom(seed);
  const faults = FAULTS.filter(({ on: place, brokersMin = 1 }) => {
    return (on === undefined || place === on) && brokersMin <= cluster.nodes.length;
  });
  const feed = { topic: TOPICS.observations, partitions: PARTITIONS, series: SERIES, perSecond };
  const feeder = startFeeder(cluster.direct, feed);
  const workerSilences: number[] = [];
  log(`time-outs, ms: ${JSON.stringify(TIME_OUTS)}`);
  try {
    const beganMs = performance.now();
    await until('every partition is scored', () => recovery.allScoredSince(beganMs), SETTLED_MS_MAX);
    const endMs = performance.now() + minutes * 60_000;
    let cycles = 0;
    for (; performance.now() < endMs; cycles++) {
      // Each of them once, from a place that the seed says; then any of them.
      const turn = cycles < faults.length ? cycles + seed : Math.floor(random() * faults.length);
      const fault = faults[turn % faults.length];
      const led = recovery.leaderSilencesMs.length;
      await oneCycle(fault, { cluster, workers, random, recovery });
      const silences = recovery.silencesMs.slice(-PARTITIONS);
      if (fault.on === 'worker') workerSilences.push(...silences);
      const said = `${cycles + 1}: ${fault.name}: silent for ${seconds(silences)} s at most`;
      if (recovery.leaderSilencesMs.length === led) log(said);
      else {
        const [leaders, markers] = [recovery.leaderSilencesMs.slice(led), recovery.brokerSilencesMs.slice(led)];
        log(`${said}, ${seconds(leaders)} s after the leaders, ${seconds(markers)} s after the markers`);
      }
    }
    await overtake({ cluster, workers, watched, feeder, log });
    await feeder.pause();
    await until('everything is compared', () => comparison.waiting === 0, SETTLED_MS_MAX).catch(() => undefined);
    return {
      cycles,
      ...comparison.conclude(),
      recoveryP50: quantileSeconds(workerSilences, 0.5),
      recoveryP99: quantileSeconds(workerSilences, 0.99),
      brokerRecoveryP99: quantileSeconds(recovery.brokerSilencesMs, 0.99),
      leaderRecoveryP99: quantileSeconds(recovery.leaderSilencesMs, 0.99),
      overtaken: [...skipped.values()].reduce((sum, { first, last }) => sum + last - first + 1, 0),
      crashes: workers.crashes,
    };
  } finally {
    await feeder.stop();
  }
}

const seconds = (silencesMs: readonly number[]) => (Math.max(...silencesMs) / 1000).toFixed(1);

async function oneCycle(
  fault: Fault,
  { cluster, workers, random, recovery }: Omit<Running, 'watched'> & { random: () => number; recovery: Recovery },
): Promise<void> {
  recovery.begin(performance.now());
  const awaitLeaders = async (away: readonly ClusterNode[]) => {
    const ids = new Set(away.map(({ id }) => id));
    await until('every partition has a leader', () => canBeWritten(cluster, Object.values(TOPICS), ids));
    const waitsForMarkers = recovery.leadersAreBack(performance.now());
    void noteMarkers(cluster, ids, waitsForMarkers);
  };
  await fault.run({ cluster, workers, random, awaitLeaders });
  const overMs = performance.now();
  await until(`every partition is scored after: ${fault.name}`, () => recovery.allScoredSince(overMs));
  // Another rebalance follows when the session of a dead member times out.
  await sleep(fault.on === 'worker' ? SESSION_MS + 1_000 : 1_000);
  await until(`every partition is scored after: ${fault.name}`, () => recovery.allScoredSince(overMs + 1_000));
  recovery.end();
}

const MARKERS_LOOK_MS = 50;

/** Follows the transactions that wait for their markers when the leaders are back, until they have them. */
async function noteMarkers(
  cluster: BrokerCluster,
  away: ReadonlySet<number>,
  waits: (partition: number, nowMs: number) => void,
): Promise<void> {
  const ids = Array.from({ length: PARTITIONS }, (_, partition) => `${GROUP}-${TOPICS.observations}-${partition}`);
  for (let waiting: readonly string[] = ids; waiting.length > 0; await sleep(MARKERS_LOOK_MS)) {
    waiting = await waitingForMarkers(cluster, waiting, away);
    for (const id of waiting) waits(ids.indexOf(id), performance.now());
  }
}

/** Retention overtakes a group whose workers are stopped. */
async function overtake({
  cluster,
  workers,
  watched,
  feeder,
  log,
}: Running & { readonly feeder: ReturnType<typeof startFeeder>; readonly log: (text: string) => void }) {
  await feeder.pause();
  await sleep(1_000);
  await watched.holdOracle();
  await until('everything is compared', () => watched.comparison.waiting === 0, SETTLED_MS_MAX).catch(() => undefined);
  await workers.stopAll();
  const endsOf = () =>
    asAdmin(cluster.direct, 'ends were read', (admin) => admin.fetchTopicOffsets(TOPICS.observations));
  const read = new Map((await endsOf()).map(({ partition, high }) => [partition, Number(high)]));
  feeder.resume();
  await until('there are records that nobody reads', async () => {
    return (await endsOf()).every(({ partition, high }) => Number(high) >= (read.get(partition) ?? 0) + UNREAD);
  });
  await feeder.pause();
  const deleteRecords = () =>
    asAdmin(cluster.direct, 'records were deleted', async (admin) => {
      const ends = await admin.fetchTopicOffsets(TOPICS.observations);
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: String(Number(high) - LEFT) }));
      await admin.deleteTopicRecords({ topic: TOPICS.observations, partitions });
      return true;
    });
  // Where a leader is moving, kafkajs gives up after half a second.
  await until('records are deleted', () => deleteRecords().catch(() => false));
  workers.startAll();
  await until('the skipped ranges are named', () => watched.skipped.size === PARTITIONS);
  await watched.resumeOracle();
  feeder.resume();
  const beganMs = performance.now();
  await until('every partition is scored', () => watched.recovery.allScoredSince(beganMs));
  log('retention overtook the stopped group');
}

const until = (what: string, holds: () => boolean | Promise<boolean>, waitMsMax = RECOVERY_MS_MAX): Promise<void> =>
  poll(what, holds, { waitMsMax, everyMs: 50 });
