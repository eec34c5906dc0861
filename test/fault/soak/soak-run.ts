import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Topics } from '../../../src/config/config.ts';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { startKafka } from '../../../src/demo/local-kafka/kafka-broker.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { type TopicTail, tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { until } from '../../fixture/until.ts';
import { Comparison, type Differences } from '../cluster/comparison.ts';
import { type FaultedWorkers, faultedWorkers } from '../cluster/faulted-workers.ts';
import { startOracle } from '../cluster/oracle.ts';
import { noteOutput } from '../cluster/outcomes.ts';
import { Latencies } from './latencies.ts';
import { startPointFeeder } from './point-feeder.ts';
import { type MemoryFigures, ResidentMemory } from './resident-memory.ts';
import { type SoakProcess, startProcess } from './soak-processes.ts';

const PARTITIONS = 8;
const WORKERS = 2;
/** The worker that is killed. The others live through the whole run. */
const KILLED = 0;
const GROUP = 'soak';
const KEY = 'the-key-of-the-soak-and-of-nothing-else';
const SAMPLE_MS = 5_000;
const LOOK_MS = 5_000;
const SETTLED_MS_MAX = 300_000;
const TOPICS: Topics = {
  observations: 'observations',
  scores: 'anomaly-scores',
  events: 'anomaly-events',
  changelog: `${GROUP}-changelog`,
  deadLetters: 'dead-letters',
};
/** Longer than the oracle is ever behind; the disk holds hours. */
const RETENTION = { 'retention.ms': '900000', 'segment.bytes': String(64 * 1024 * 1024) };

export interface SoakOptions {
  readonly minutes: number;
  readonly perSecond: number;
  readonly series: number;
  readonly killMinutes: number;
  readonly log: (text: string) => void;
}

export interface SoakFigures extends Differences, MemoryFigures {
  readonly fed: number;
  readonly repeated: number;
  readonly kills: number;
  /** From when an observation is due to when its score is read, the time of kills included. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly events: number;
  readonly incidents: number;
  /** Messages that a receiver was sent. */
  readonly notifications: number;
  /** Scores that the history has, and what the console was sent live. */
  readonly history_scores: number;
  readonly live_kb: number;
  readonly crashes: readonly string[];
}

/** An installation with everything on, which is fed over HTTP, and an oracle that compares every score. */
export async function runSoak(options: SoakOptions): Promise<SoakFigures> {
  const stepS = options.series / options.perSecond;
  if (!Number.isInteger(stepS)) throw new Error('--series must be a multiple of --per-second: a step is whole seconds');
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-soak-'));
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir: join(folder, 'kafka') });
    closing.push(() => kafka.kill());
    const connection = { config: { brokers: kafka.brokers, clientId: 'soak', tls: null, sasl: null } };
    await makeTopics(connection);
    const receiver = await startReceiver();
    closing.push(() => receiver.close());
    const installation = await install({ folder, brokers: kafka.brokers.join(), stepS, receiver: receiver.url });
    closing.push(() => installation.stop());
    const watched = await watch(connection, installation.detectors);
    closing.push(() => watched.close());
    const figures = await soak(options, { installation, watched });
    const { lost, twice, different, crashes } = figures;
    if (lost + twice + different + crashes.length > 0) options.log(`the logs are kept in ${folder}`);
    else closing.unshift(() => rm(folder, { recursive: true, force: true }));
    return { ...figures, notifications: receiver.count() };
  } finally {
    for (const close of closing.reverse()) await close().catch(() => undefined);
  }
}

async function makeTopics(connection: KafkaConnection): Promise<void> {
  await ensureTopics(connection, TOPICS, { partitions: PARTITIONS, replicationFactor: 1, retentionMs: null });
  const configEntries = Object.entries(RETENTION).map(([name, value]) => ({ name, value }));
  const resources = [TOPICS.observations, TOPICS.scores].map((name) => {
    return { type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries };
  });
  await asAdmin(connection, 'topics were configured', (admin) =>
    admin.alterConfigs({ validateOnly: false, resources }),
  );
}

/** Takes every message of the alerts. */
async function startReceiver() {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      count++;
      response.writeHead(202).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Installation {
  readonly detectors: string;
  readonly workers: FaultedWorkers;
  readonly others: readonly SoakProcess[];
  readonly receiveUrl: string;
  readonly serveUrl: string;
  stop(): Promise<void>;
}

interface Place {
  readonly folder: string;
  readonly brokers: string;
  readonly stepS: number;
  readonly receiver: string;
}

async function install({ folder, brokers, stepS, receiver }: Place): Promise<Installation> {
  const detectors = `topics: { observations: ${TOPICS.observations}, scores: ${TOPICS.scores}, events: ${TOPICS.events}, changelog: ${TOPICS.changelog}, dead_letters: ${TOPICS.deadLetters} }
detectors: [{ name: metrics, series: "*", freq: ${stepS}s, h: 24, detection_size: 24, context: 128 }]
`;
  const detectorsFile = join(folder, 'detectors.yaml');
  await writeFile(detectorsFile, detectors);
  const routesFile = join(folder, 'alerts.yaml');
  await writeFile(
    routesFile,
    `allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${receiver}" } }]
routes: [{ name: events, receivers: hook }, { name: incidents, on: incidents, receivers: hook }]
`,
  );
  const [receivePort, servePort] = [await freePort(), await freePort()];
  const env = { KAFKA_BROKERS: brokers, KAFKA_GROUP_ID: GROUP, DETECTORS: detectorsFile, TIDEWATCH_API_KEY: KEY };
  const workers = faultedWorkers({ count: WORKERS, folder, detectorsFile, env });
  workers.startAll();
  const others: SoakProcess[] = [];
  const start = async (args: readonly string[], ready: string, more: Readonly<Record<string, string>> = {}) => {
    others.push(await startProcess(args, { folder, ready, env: { ...env, ...more } }));
  };
  await start(['incidents'], 'incidents started');
  await start(['alerts', '--routes', routesFile], 'alerts started');
  await start(['serve'], 'serving', { HTTP_PORT: String(servePort), HISTORY_GB: '2' });
  await start(['receive'], 'receiving', { HTTP_PORT: String(receivePort), GRPC_PORT: '0' });
  return {
    detectors,
    workers,
    others,
    receiveUrl: `http://127.0.0.1:${receivePort}`,
    serveUrl: `http://127.0.0.1:${servePort}`,
    stop: async () => void (await Promise.all([workers.stopAll(), ...others.map((process) => process.stop())])),
  };
}

interface Watched {
  readonly comparison: Comparison;
  readonly latencies: Latencies;
  readonly incidents: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Reads what is fed, what is scored, and what follows from it. */
async function watch(connection: KafkaConnection, detectors: string): Promise<Watched> {
  const comparison = new Comparison();
  const latencies = new Latencies();
  const [events, incidents] = [new Set<string>(), new Set<string>()];
  const oracle = await startOracle({
    detectors,
    partitions: PARTITIONS,
    onOutputs: (outputs) => {
      for (const { topic, value } of outputs)
        noteOutput(topic, value, { topics: TOPICS, note: (outcome) => comparison.expect(outcome) });
    },
  });
  const follow = (topic: string, take: (value: Buffer) => void) =>
    tailTopic(
      connection,
      { topic, from: 'earliest' },
      {
        onRecords: (records) => {
          for (const { value } of records) if (value !== null) take(value);
        },
      },
    );
  const found = (topic: string) => (value: Buffer) =>
    noteOutput(topic, value, { topics: TOPICS, note: (outcome) => comparison.found(outcome) });
  const tails: TopicTail[] = [
    await tailTopic(
      connection,
      { topic: TOPICS.observations, from: 'earliest' },
      {
        onRecords: (records) => {
          for (const [partition, some] of Map.groupBy(records, (record) => record.partition))
            oracle.take(partition, some);
        },
      },
    ),
    await follow(TOPICS.scores, (value) => {
      found(TOPICS.scores)(value);
      const { timestampMs, state } = JSON.parse(value.toString()) as {
        readonly timestampMs: number;
        readonly state: string;
      };
      // What is said of a silence has an earlier time.
      if (state !== 'silent') latencies.add(Date.now() - timestampMs);
    }),
    await follow(TOPICS.deadLetters, found(TOPICS.deadLetters)),
    await follow(TOPICS.events, (value) => void events.add(idOf(value, 'eventId'))),
    await follow('anomaly-incidents', (value) => void incidents.add(idOf(value, 'incidentId'))),
  ];
  return {
    comparison,
    latencies,
    events,
    incidents,
    async close() {
      await Promise.all(tails.map((tail) => tail.stop()));
      await oracle.close();
    },
  };
}

const idOf = (value: Buffer, name: string) => String((JSON.parse(value.toString()) as Record<string, unknown>)[name]);

type Soaked = Omit<SoakFigures, 'notifications'>;

async function soak(
  { minutes, perSecond, series, killMinutes, log }: SoakOptions,
  { installation, watched }: { readonly installation: Installation; readonly watched: Watched },
): Promise<Soaked> {
  const { workers, others, receiveUrl, serveUrl } = installation;
  const { comparison, latencies } = watched;
  const memory = new ResidentMemory();
  const stopping = new AbortController();
  const looking = lookAtConsole(serveUrl, stopping.signal);
  const beganMs = Date.now();
  const sampling = setInterval(() => {
    const nowMs = Date.now();
    for (let at = 0; at < WORKERS; at++) memory.sample(`worker-${at}`, workers.pid(at), nowMs);
    for (const { name, pid } of others) memory.sample(name, pid, nowMs);
  }, SAMPLE_MS);
  const feeder = startPointFeeder({ url: receiveUrl, key: KEY, series, perSecond, startMs: beganMs });
  const endMs = beganMs + minutes * 60_000;
  let kills = 0;
  for (let nextMs = beganMs; Date.now() < endMs; ) {
    nextMs = Math.min(endMs, nextMs + killMinutes * 60_000);
    await sleep(nextMs - Date.now());
    log(
      `${Math.round((Date.now() - beganMs) / 60_000)} min: ${feeder.fed} fed, ${comparison.waiting} without counterpart, ` +
        `p99 ${latencies.quantile(0.99)} ms, ${JSON.stringify(memory.figures().rss_mb)}`,
    );
    if (Date.now() >= endMs) break;
    await workers.replace(KILLED, 'SIGKILL');
    kills++;
  }
  await feeder.stop();
  const settled = { waitMsMax: SETTLED_MS_MAX, everyMs: 500 };
  await until('everything is compared', () => comparison.waiting === 0, settled).catch(() => undefined);
  const compared = comparison.conclude();
  const isKept = async () => {
    const { partitions } = await historyOf(serveUrl);
    // There are none while the history does not answer.
    return partitions.length > 0 && partitions.every(({ lag }) => lag === 0);
  };
  await until('the history has everything', isKept, settled).catch(() => undefined);
  const { scores } = await historyOf(serveUrl);
  clearInterval(sampling);
  stopping.abort();
  return {
    fed: feeder.fed,
    repeated: feeder.repeated,
    kills,
    ...compared,
    // Points that were accepted, and are in no topic.
    lost: compared.lost + Math.max(0, feeder.fed - compared.compared),
    p50_ms: latencies.quantile(0.5),
    p99_ms: latencies.quantile(0.99),
    ...memory.figures(),
    events: watched.events.size,
    incidents: watched.incidents.size,
    history_scores: scores,
    live_kb: Math.round((await looking) / 1_024),
    crashes: [...workers.crashes, ...others.flatMap((process) => process.crash() ?? [])],
  };
}

const asAdminOfSoak = { headers: { authorization: `Bearer ${KEY}` } };

interface KeptNow {
  readonly scores: number;
  readonly partitions: readonly { readonly lag: number | null }[];
}

async function historyOf(url: string): Promise<KeptNow> {
  const state = await (await fetch(`${url}/v1/service`, asAdminOfSoak)).json();
  return (state as { readonly history: KeptNow }).history;
}

/** As an open page of the console does. Returns how many bytes it was sent live. */
async function lookAtConsole(url: string, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  const asked = { ...asAdminOfSoak, signal };
  const live = fetch(`${url}/v1/live`, asked).then(async ({ body }) => {
    for await (const chunk of body ?? []) bytes += chunk.length;
  });
  const lists = (async () => {
    for (;;) {
      for (const path of ['/v1/series?limit=50', '/v1/events?limit=50', '/v1/incidents?limit=50']) {
        await (await fetch(url + path, asked)).arrayBuffer();
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
  })();
  await Promise.allSettled([live, lists]);
  return bytes;
}
