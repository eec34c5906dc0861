/**
 * `npm run senders -- [NAME...] [--record]`: builds the real senders, has them write to a real `receive` and Kafka what
 * they scrape, refuses some of their requests, is away for a while, and compares record by record. Programs that write
 * without `receive` are compared with the fixtures. `--record` writes fixtures. Prints a table; ends with 1 if a sender
 * does other than the list says. `clients` generates clients from the description of the API instead, and runs them.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRecordSplitter } from '../../src/codecs/points/record-splitter.ts';
import { readTail } from '../../src/kafka/fetch/topic-tail.ts';
import { makeTopics, PARTITIONS, withBroker } from '../bench/local-broker.ts';
import { type StartedCommand, startedCommand } from '../bench/started-command.ts';
import { recordMapping } from '../fixture/stream/record-mapping.ts';
import { until } from '../fixture/until.ts';
import { type Front, QUEUES, startExporter, startFront } from './front.ts';
import { startGrpcFront } from './grpc-front.ts';
import { RECORDERS, recorded } from './recorders.ts';
import { startSender } from './run-sender.ts';
import { SENDERS, type Sender } from './senders.ts';

const KEY = 'the-key-of-every-sender-here';
/** Scrapes of each phase that are looked at. */
const PHASE_SCRAPES = 6;
/** Requests after which a sender has written what it scraped before; Kafka gets it without answers, soon. */
const [SETTLED_REQUESTS, SETTLED_MS] = [3, 3_000];
/** Nobody listens for so long. */
const OUTAGE_MS = 8_000;
const RECORDED_MAX = 2;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { record: { type: 'boolean' } } });
if (positionals.includes('clients')) {
  await import('./generated-clients.ts');
  process.exit(0);
}
const isChosen = ({ name }: { readonly name: string }) => positionals.length === 0 || positionals.includes(name);
const [chosen, recorders] = [SENDERS.filter(isChosen), RECORDERS.filter(isChosen)];

type Connection = Parameters<typeof readTail>[0];
type Written = readonly (readonly [series: string, timestampMs: number, value: number])[];

/** What is in Kafka of the counters. */
async function written(connection: Connection, topic: string, to: Sender['to']): Promise<Written> {
  const tails = Array.from({ length: PARTITIONS }, (_, partition) =>
    readTail(connection, { topic, partition, recordsMax: 100_000 }),
  );
  const options = { groupPathOf: () => null, futureLimitOf: () => Number.POSITIVE_INFINITY, schemas: null };
  const splitter = createRecordSplitter(recordMapping({ format: 'otlp' }), options);
  const texts = (await Promise.all(tails)).flat().flatMap((record) => {
    if (to !== 'topic') return [String(record.value)];
    const split = splitter.split({ ...record, value: record.value ?? Buffer.alloc(0) }, Date.now());
    if (split.kind === 'dead-letter') throw new Error(`${topic}: ${split.detail}`);
    return split.records.map(({ value }) => String(value));
  });
  return texts
    .map((text) => JSON.parse(text) as { series: string; timestamp: number; value: number })
    .filter(({ series }) => series.startsWith('jobs'))
    .map(({ series, timestamp, value }) => [series, timestamp, value] as const);
}

interface Compared {
  readonly metrics: number;
  readonly records: number;
  readonly repeated: number;
  /** Records behind a newer one of their series. */
  readonly late: number;
  /** Values that no scrape had. */
  readonly wrong: number;
  /** Scrapes that are not whole, by the phase that they fall into. */
  readonly lost: readonly number[];
}

/** @param phases the first scrape of each phase, and of the end */
function compare(all: Written, phases: readonly number[]): Compared {
  const [seen, metrics] = [new Set<string>(), new Set<string>()];
  const points = new Set(all.map(([series, timestampMs]) => `${series} ${timestampMs}`));
  const newest = new Map<string, number>();
  let [wrong, late] = [0, 0];
  for (const [series, timestampMs, value] of all) {
    if (timestampMs < (newest.get(series) ?? 0)) late++;
    else newest.set(series, timestampMs);
    const queue = Number(/queue="(\d+)"/.exec(series)?.[1]);
    if (value % 10 !== queue) wrong++;
    const metric = series.slice(0, series.indexOf('{'));
    metrics.add(metric);
    seen.add(`${metric} ${queue} ${Math.floor(value / 10)}`);
  }
  const isWhole = (scrape: number) =>
    [...metrics].every((metric) =>
      Array.from({ length: QUEUES }, (_, i) => seen.has(`${metric} ${i} ${scrape}`)).every(Boolean),
    );
  const lost = phases.slice(0, -1).map((from, phase) => {
    return Array.from({ length: phases[phase + 1] - from }, (_, i) => from + i).filter((n) => !isWhole(n)).length;
  });
  return { metrics: metrics.size, records: all.length, repeated: all.length - points.size, late, wrong, lost };
}

const STATUSES = [503, 429, 400] as const;

async function tried(sender: Sender, connection: Connection, folder: string): Promise<string | null> {
  const { name, to, at } = sender;
  const topics = await makeTopics(connection, name);
  const detectors = join(folder, `${name}.yaml`);
  const list = 'detectors: [{ name: all, series: "*", freq: 1s, h: 4, detection_size: 4 }]';
  await writeFile(detectors, `topics: { observations: ${topics.observations} }\n${list}\n`);
  const brokers = connection.config.brokers.join();
  const env = { KAFKA_BROKERS: brokers, DETECTORS: detectors, TIDEWATCH_API_KEY: KEY, DATA_DIR: join(folder, name) };
  const receive: StartedCommand = await startedCommand(
    ['receive'],
    { ...env, HTTP_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', DRAIN_MS: '0' },
    'receiving',
  );
  const exporter = await startExporter();
  const front = to === 'gRPC' ? await startGrpcFront(receive.fields.grpc) : await startFront(receive.url);
  const scraped = exporter.url.replace('http://', '');
  const place = { folder: join(folder, name), scraped, url: front.url, key: KEY, brokers, topic: topics.observations };
  const stop = await startSender(sender, place);
  try {
    const phases = [await started(exporter.scrapes, front, to)];
    const pass = async () => {
      const from = exporter.scrapes();
      await until(`${name} scrapes`, () => exporter.scrapes() >= from + PHASE_SCRAPES);
      phases.push(exporter.scrapes() + 1);
    };
    const settled = async () => {
      if (to === 'topic') return sleep(SETTLED_MS);
      const before = front.requests.length;
      const isSettled = () =>
        front.requests.slice(before).filter(({ status }) => status < 300).length >= SETTLED_REQUESTS;
      await until(`${name} writes what it has`, isSettled);
    };
    await pass();
    exporter.setRefused(true);
    await pass();
    exporter.setRefused(false);
    for (const status of at === null ? [] : STATUSES) {
      await settled();
      const before = front.requests.length;
      const since = () => front.requests.slice(before);
      front.refuse(status, 2);
      await until(
        `${name} is refused with ${status}`,
        () => since().filter((each) => each.status === status).length >= 2,
      );
      await until(`${name} goes on after ${status}`, () => since().some((each) => each.status < 300));
      await pass();
    }
    if (to !== 'topic') {
      await front.leave();
      await sleep(OUTAGE_MS);
      await front.return();
      const before = front.requests.length;
      await until(`${name} goes on after an outage`, () =>
        front.requests.slice(before).some(({ status }) => status < 300),
      );
      await pass();
    }
    await settled();
    const compared = compare(await written(connection, topics.observations, to), phases);
    if (values.record) await record(sender, front);
    return report(sender, compared, front);
  } finally {
    await stop();
    exporter.close();
    front.close();
    await receive.stop();
  }
}

/** The first scrape that is looked at. */
async function started(scrapes: () => number, front: Front, to: Sender['to']): Promise<number> {
  await until('the sender scrapes', () => scrapes() >= 3);
  if (to !== 'topic') await until('the sender writes', () => front.requests.some(({ status }) => status < 300));
  return scrapes() + 1;
}

/** Prints a row. Returns why it is not what the list says. */
function report(
  sender: Sender,
  { metrics, records, repeated, late, wrong, lost }: Compared,
  front: Front,
): string | null {
  const { name, version, at, to, outage } = sender;
  const [plain, partly, ...refused] = lost;
  const phases = [...(at === null ? [] : STATUSES), ...(to === 'topic' ? [] : (['outage'] as const))];
  const found = phases.map((phase, i) => `${phase} ${refused[i] > 0 ? 'drops' : 'repeats'}`);
  const encodings = [...new Set(front.requests.map(({ headers }) => headers['content-encoding'] ?? 'plain'))].join('+');
  const counts = `${records} records | ${repeated} repeated | ${late} late | ${wrong} wrong`;
  console.log([name, version, counts, ...found, encodings].join(' | '));
  const expected = phases.map((phase) => `${phase} ${phase === 'outage' ? outage : at?.[phase]}`);
  // A native histogram has a count and a sum.
  if (metrics !== (name === 'prometheus-native' ? 3 : 1)) return `${name}: ${metrics} metrics arrived`;
  if (plain > 0 || partly > 0) return `${name}: ${plain} and ${partly} scrapes are lost that nobody refused`;
  if (wrong > 0) return `${name}: ${wrong} values were never scraped`;
  if (repeated > 0) return `${name}: ${repeated} records are there twice`;
  return found.join() === expected.join() ? null : `${name}: it does ${found.join()}, the list says ${expected.join()}`;
}

async function record({ name, version }: Sender, { requests }: Front): Promise<void> {
  const taken = requests.filter(({ status, body }) => status < 300 && body.length > 50).slice(0, RECORDED_MAX);
  if (taken.length === 0) return;
  const bodies = taken.map(({ body }) => body.toString('base64'));
  const fixture = {
    sender: `${name} ${version}`,
    recorded: new Date().toISOString().slice(0, 10),
    headers: taken[0].headers,
  };
  const { authorization: _, ...headers } = fixture.headers;
  const file = new URL(`../fixture/senders/${name}.json`, import.meta.url);
  await writeFile(file, `${JSON.stringify({ ...fixture, headers, bodies }, null, 1)}\n`);
}

const folder = await mkdtemp(join(tmpdir(), 'tidewatch-senders-'));
const problems: string[] = [];
for (const recorder of recorders) {
  const problem = await recorded(recorder, values.record === true).catch(
    (error: Error) => `${recorder.name}: ${error.message}`,
  );
  if (problem !== null) problems.push(problem);
}
const withSenders: typeof withBroker = chosen.length > 0 ? withBroker : async () => undefined as never;
await withSenders(async (connection) => {
  for (const sender of chosen) {
    const problem = await tried(sender, connection, folder).catch((error: Error) => `${sender.name}: ${error.message}`);
    if (problem !== null) problems.push(problem);
  }
});
for (const problem of problems) console.log(problem);
if (problems.length > 0) console.log(`Logs of the senders: ${folder}`);
else await rm(folder, { recursive: true });
process.exit(problems.length > 0 ? 1 : 0);
