/**
 * `npm run move`: a group moves to another cluster with its state, by MirrorMaker. One cluster goes on, the other one
 * from what was copied: both score the same records to the same scores.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { type LocalKafka, startKafka } from '../../../src/demo/local-kafka/kafka-broker.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { runCommand, startCommand } from '../../fixture/command.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { isAtEnd, openConnection, readQuiet } from '../../fixture/kafka/group-progress.ts';
import { observationRecord, TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { startMirrorMaker } from './mirror-maker.ts';

const GROUP = 'tidewatch';
const PARTITIONS = 2;
const SERIES = ['web-1', 'web-2', 'db', 'cache', 'queue', 'disk'];
const [MOVED, STEPS] = [60, 90];
/** Records of each partition that the other cluster has before: no offset is the same. */
const BEFORE = 7;

const folder = freshFolder();
const clusters: LocalKafka[] = [];
after(async () => {
  for (const kafka of clusters) await kafka.kill();
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

/** Whether everything is scored, of more than is there before. */
const isScored = (kafka: LocalKafka) =>
  isAtEnd(openConnection(kafka), { groupId: GROUP, topic: TOPICS.observations, before: BEFORE });

async function score(kafka: LocalKafka): Promise<void> {
  const worker = startCommand(['worker'], envOf(kafka));
  await until('everything is scored', () => isScored(kafka));
  worker.terminate();
  assert.equal(await worker.exitCode, 0);
}

const read = (kafka: LocalKafka, topic: string) => readQuiet(openConnection(kafka), topic);

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
  await produceRecords(openConnection(from), TOPICS.observations, recordsOf(0, MOVED));
  await score(from);
  const topic = { topic: TOPICS.observations, numPartitions: PARTITIONS, replicationFactor: 1 };
  await asAdmin(openConnection(to), 'the topic was made', (admin) => admin.createTopics({ topics: [topic] }));
  const others = Array.from({ length: PARTITIONS * BEFORE }, (_, i) => {
    return { partition: i % PARTITIONS, key: null, value: Buffer.from('before') };
  });
  await produceRecords(openConnection(to), TOPICS.observations, others);

  const mirrored = { folder, from: from.brokers, to: to.brokers, topics: Object.values(TOPICS), group: GROUP };
  const mirrorMaker = await startMirrorMaker(mirrored);
  await until('the offsets are translated', () => isScored(to));
  const state = await read(from, TOPICS.changelog);
  await until('the changelog is copied', async () => (await read(to, TOPICS.changelog)).length >= state.length);
  await until('the scores are copied', async () => (await judged(to)).length === MOVED * SERIES.length);
  await mirrorMaker.stop();

  const adopted = await runCommand(['state', 'adopt'], envOf(to));
  assert.deepEqual([adopted.exitCode, adopted.err], [0, []]);
  const [, at, before] = /continues at offset (\d+), which was (\d+) before/.exec(adopted.out[0]) ?? [];
  assert.equal(Number(at), Number(before) + BEFORE);
  for (const kafka of [from, to]) {
    await produceRecords(openConnection(kafka), TOPICS.observations, recordsOf(MOVED, STEPS));
    await score(kafka);
  }
  const [stayed, moved] = [await judged(from), await judged(to)];
  assert.equal(stayed.length, STEPS * SERIES.length);
  assert.deepEqual(moved, stayed);
  assert.ok(moved.some((text) => text.includes('"alarm":true')));
  assert.deepEqual(await read(to, TOPICS.deadLetters), []);
});
