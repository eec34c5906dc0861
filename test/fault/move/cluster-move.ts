/**
 * `npm run move`: a group moves to another cluster with its state, by MirrorMaker. One cluster goes on, the other one
 * from what was copied: both score the same records to the same scores.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cacheFolder } from '../../../src/config/cache-folder.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { type LocalKafka, startKafka } from '../../../src/local-kafka/kafka-broker.ts';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { observationRecord, TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { startMirrorMaker } from './mirror-maker.ts';

const GROUP = 'tidewatch';
const PARTITIONS = 2;
const SERIES = ['web-1', 'web-2', 'db', 'cache', 'queue', 'disk'];
const [MOVED, STEPS] = [60, 90];
/** Records of each partition that the other cluster has before: no offset is the same. */
const BEFORE = 7;
const QUIET_MS = 2_000;

const folder = await mkdtemp(join(tmpdir(), 'tidewatch-move-'));
const clusters: LocalKafka[] = [];
after(async () => {
  for (const kafka of clusters) await kafka.kill();
  await rm(folder, { recursive: true, force: true });
});

const detectors = join(folder, 'detectors.yaml');
await writeFile(
  detectors,
  `topics: { observations: ${TOPICS.observations}, scores: ${TOPICS.scores}, events: ${TOPICS.events}, changelog: ${TOPICS.changelog}, dead_letters: ${TOPICS.deadLetters} }
detectors: [{ name: every, series: "*", freq: min, h: 4, detection_size: 4, context: 32 }]
`,
);

async function cluster(name: string): Promise<LocalKafka> {
  const kafka = await startKafka({ cacheDir: cacheFolder(), dataDir: join(folder, name) });
  clusters.push(kafka);
  return kafka;
}

const connectionTo = ({ brokers }: LocalKafka) => ({ config: { brokers, clientId: 'move', tls: null, sasl: null } });
const envOf = ({ brokers }: LocalKafka) => {
  const env = { KAFKA_BROKERS: brokers.join(), KAFKA_GROUP_ID: GROUP, DETECTORS: detectors };
  return { ...env, OPS_PORT: '0', INFERENCE_THREADS: '1' };
};

function recordsOf(from: number, to: number) {
  const steps = Array.from({ length: to - from }, (_, i) => from + i);
  return steps.flatMap((step) =>
    SERIES.map((series, which) => {
      const noise = ((step * 7_919 + which * 104_729) % 101) / 100;
      return observationRecord(series, step, Math.sin(step / (2 + which)) + noise + (step === 70 ? 30 : 0));
    }),
  );
}

async function endsOf(kafka: LocalKafka): Promise<readonly number[]> {
  const offsets = await asAdmin(connectionTo(kafka), 'ends were read', (admin) =>
    admin.fetchTopicOffsets(TOPICS.observations),
  );
  return offsets.toSorted((one, other) => one.partition - other.partition).map(({ high }) => Number(high));
}

async function groupOf(kafka: LocalKafka): Promise<readonly number[]> {
  const [{ partitions }] = await asAdmin(connectionTo(kafka), 'offsets were read', (admin) =>
    admin.fetchOffsets({ groupId: GROUP, topics: [TOPICS.observations] }),
  );
  return partitions.toSorted((one, other) => one.partition - other.partition).map(({ offset }) => Number(offset));
}

/** Whether the group has read its input to the end, and there is something of it. */
async function isAtEnd(kafka: LocalKafka): Promise<boolean> {
  const [ends, offsets] = await Promise.all([endsOf(kafka), groupOf(kafka).catch(() => [])]);
  return ends.every((end, partition) => end > BEFORE && offsets[partition] === end);
}

async function score(kafka: LocalKafka): Promise<void> {
  const worker = startCommand(['worker'], envOf(kafka));
  await until('everything is scored', () => isAtEnd(kafka));
  worker.terminate();
  assert.equal(await worker.exitCode, 0);
}

/** Committed records, once no further ones come. */
async function read(kafka: LocalKafka, topic: string): Promise<readonly string[]> {
  const values: string[] = [];
  let changedMs = performance.now();
  const tail = await tailTopic(
    connectionTo(kafka),
    { topic, from: 'earliest' },
    {
      onRecords: (records) => {
        changedMs = performance.now();
        values.push(...records.map(({ value }) => String(value)));
      },
    },
  );
  await until(`${topic} is quiet`, () => performance.now() - changedMs > QUIET_MS);
  await tail.stop();
  return values;
}

/** Without the places in the input, which differ. */
async function judged(kafka: LocalKafka): Promise<readonly string[]> {
  const scores = await read(kafka, TOPICS.scores);
  return scores.map((text) => JSON.stringify({ ...JSON.parse(text), input: null })).sort();
}

test('a group goes on in another cluster as if it had never moved', async () => {
  const [from, to] = [await cluster('a'), await cluster('b')];
  const made = await runCommand(
    ['topics', '--partitions', String(PARTITIONS), '--replication-factor', '1'],
    envOf(from),
  );
  assert.equal(made.exitCode, 0, made.err.join('\n'));
  await produceRecords(connectionTo(from), TOPICS.observations, recordsOf(0, MOVED));
  await score(from);
  const topic = { topic: TOPICS.observations, numPartitions: PARTITIONS, replicationFactor: 1 };
  await asAdmin(connectionTo(to), 'the topic was made', (admin) => admin.createTopics({ topics: [topic] }));
  const others = Array.from({ length: PARTITIONS * BEFORE }, (_, i) => {
    return { partition: i % PARTITIONS, key: null, value: Buffer.from('before') };
  });
  await produceRecords(connectionTo(to), TOPICS.observations, others);

  const mirrored = { folder, from: from.brokers, to: to.brokers, topics: Object.values(TOPICS), group: GROUP };
  const mirrorMaker = await startMirrorMaker(mirrored);
  await until('the offsets are translated', () => isAtEnd(to));
  const state = await read(from, TOPICS.changelog);
  await until('the changelog is copied', async () => (await read(to, TOPICS.changelog)).length >= state.length);
  await until('the scores are copied', async () => (await judged(to)).length === MOVED * SERIES.length);
  await mirrorMaker.stop();

  const adopted = await runCommand(['state', 'adopt'], envOf(to));
  assert.deepEqual([adopted.exitCode, adopted.err], [0, []]);
  const [, at, before] = /goes on at offset (\d+), which was (\d+) before/.exec(adopted.out[0]) ?? [];
  assert.equal(Number(at), Number(before) + BEFORE);
  for (const kafka of [from, to]) {
    await produceRecords(connectionTo(kafka), TOPICS.observations, recordsOf(MOVED, STEPS));
    await score(kafka);
  }
  const [stayed, moved] = [await judged(from), await judged(to)];
  assert.equal(stayed.length, STEPS * SERIES.length);
  assert.deepEqual(moved, stayed);
  assert.ok(moved.some((text) => text.includes('"alarm":true')));
  assert.deepEqual(await read(to, TOPICS.deadLetters), []);
});
