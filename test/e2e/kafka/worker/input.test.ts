import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import { linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import type { ProducerRecord } from '../../../../src/kafka/produce/bulk-producer.ts';
import { array, type Field, i8, i16, i32, string, struct } from '../../../../src/kafka/protocol/protocol-fields.ts';
import { sendRequest } from '../../../../src/kafka/protocol/protocol-request.ts';
import type { DeadLetterReason } from '../../../../src/records/dead-letter.ts';
import { runCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { freshLog, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { foreignTransactions, kafkaClient } from '../../../fixture/kafka/kafka-client.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord, START_MS } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

/** A topic, of the resources that have a configuration. */
const TOPIC = 2;
const DETECTORS = ['{ name: web, series: "web-*", freq: min, h: 8, detection_size: 8, context: 64 }'];

function record(value: string | Buffer | null, key: Buffer = Buffer.from('web-1')): ProducerRecord {
  return { partition: 1, key, value: typeof value === 'string' ? Buffer.from(value) : value };
}

function observed(fields: Readonly<Record<string, unknown>>): ProducerRecord {
  return record(JSON.stringify({ series: 'web-1', timestamp: START_MS, value: 1, ...fields }));
}

/** Step of the good series that comes before each of these. */
const BAD: readonly (readonly [DeadLetterReason, ProducerRecord, RegExp])[] = [
  ['record-unreadable', record(Buffer.from([0xff, 0x00, 0x80])), /./],
  ['record-unreadable', record('{"series":'), /JSON/],
  ['record-unreadable', record(Buffer.alloc(900_000, 'x')), /JSON/],
  ['series-missing', observed({ series: undefined }), /./],
  ['series-unreadable', observed({ series: 'web-'.repeat(50_000) }), /./],
  ['series-unknown', observed({ series: 'db-1' }), /"db-1"/],
  ['time-missing', observed({ timestamp: null }), /./],
  ['time-unreadable', observed({ timestamp: 'noon' }), /"noon"/],
  ['time-implausible', observed({ timestamp: START_MS / 1_000 }), /it would make sense in s$/],
  ['time-in-future', observed({ timestamp: Date.now() + 10 * 86_400_000 }), /further ahead/],
  ['value-missing', observed({ value: undefined }), /./],
  ['value-not-a-number', observed({ value: '12,5' }), /"12,5"/],
  ['value-not-finite', record(`{"series":"web-1","timestamp":${START_MS},"value":1e39}`), /magnitude/],
  ['late', observed({ timestamp: START_MS - 60_000 }), /older than the newest/],
  ['key-unusable', { ...observed({}), key: Buffer.alloc(4) }, /four zero bytes/],
  ['key-unusable', { ...observed({}), key: Buffer.alloc(5_000, 'k') }, /5000 bytes/],
];

kafkaTest('a record that cannot be scored becomes a dead letter with its place, reason and bytes', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  const good = BAD.map((_, step) => ({ partition: 1, ...observationRecord('web-1', step, step) }));
  const input = [good[0], good[0], good[0], ...BAD.flatMap(([, bad], i) => [bad, ...good.slice(i + 1, i + 2)])];
  // A tombstone of a compacted input deletes a key: there is nothing to score or to repair.
  await feedAsOthersDo(stream.topics.observations, [...input, record(null)]);
  const worker = await stream.startWorker();
  await stream.settled();

  const letters = await stream.deadLetters();
  const reasons = letters.map(({ reason }) => reason);
  const expected = BAD.map(([reason]) => reason);
  assert.deepEqual(reasons, expected);
  for (const [i, [, { key, value }, detail]] of BAD.entries()) {
    const letter = letters[i];
    const offset = 3 + 2 * i;
    assert.deepEqual({ ...letter.input, timestampMs: 0 }, place(stream.topics.observations, offset));
    assert.match(letter.detail, detail);
    assert.ok(letter.detail.length < 400, letter.reason);
    const bytes = letter.value === null ? null : Buffer.from(letter.value, 'base64');
    if (letter.truncated) assert.ok(value!.subarray(0, bytes!.length).equals(bytes!) && bytes!.length > 600_000);
    else assert.deepEqual([Buffer.from(letter.key!, 'base64'), bytes], [key, value]);
  }
  assert.equal(letters.filter(({ truncated }) => truncated).length, 1);

  const scores = await stream.scores();
  const positions = scores.map(({ position }) => position);
  assert.deepEqual(
    positions,
    good.map((_, step) => step),
  );
  await worker.counts('tidewatch_duplicates_total', 2);
  await worker.counts('tidewatch_dead_letters_total', BAD.length);
  await worker.counts('tidewatch_dead_letters_total', 1, 'reason="late"');
  await worker.counts('tidewatch_without_value_total', 1);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest('an observation too old for the topic of scores is a dead letter and holds up no other', async () => {
  const stream = await kafkaStream(2, DETECTORS);
  const { scores: name, observations } = stream.topics;
  const configEntries = [{ name: 'message.timestamp.before.max.ms', value: String(86_400_000) }];
  await asAdmin(await kafkaConnection(), 'a topic was changed', (admin) =>
    admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC, name, configEntries }] }),
  );
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  const input = Array.from({ length: 9 }, (_, step) => observed({ timestamp: nowMs + (step - 9) * 60_000 }));
  input.splice(4, 0, observed({ series: 'web-2', timestamp: nowMs - 10 * 86_400_000 }));
  await feedAsOthersDo(observations, input);
  const worker = await stream.startWorker();
  await stream.settled();
  const letters = await stream.deadLetters();
  const actual = letters.map(({ reason, input: { offset } }) => [reason, offset]);
  assert.deepEqual(actual, [['record-failed', 4]]);
  assert.match(letters[0].detail, /timestamp of the message is out of acceptable range.*processing-time/);
  assert.equal((await stream.scores()).length, 9);
  await worker.stop();
});

/** With a client that, other than ours, lets every key pass. */
async function feedAsOthersDo(topic: string, records: readonly ProducerRecord[]): Promise<void> {
  const { kafka, destroy } = kafkaClient(await kafkaConnection());
  const producer = kafka.producer();
  await producer.connect();
  for (const { partition, key, value } of records) {
    await producer.send({ topic, messages: [{ partition: partition!, key, value }] });
  }
  await producer.disconnect();
  destroy();
}

function place(topic: string, offset: number) {
  return { topic, partition: 1, offset, timestampMs: 0 };
}

kafkaTest('a hanging transaction in the changelog is named, and nothing before it is restored', async (t) => {
  const { topics, log } = await freshLog(t);
  const written = await log.openPartition(0);
  const state = (value: string) => [
    { topic: topics.changelog, partition: 0, key: Buffer.from('k'), value: Buffer.from(value) },
  ];
  await written.commit(state('1'), 1);
  const begin = await foreignTransactions(t, topics.changelog);
  const hanging = await begin([{ partition: 0, key: 'x', value: 'never committed' }]);
  await written.commit(state('2'), 2);
  const session = await log.openPartition(0);
  const reading = session.readChangelog(() => assert.fail('nothing is to be restored'));
  await assert.rejects(reading, { code: 'broker-unavailable', message: /transaction hangs in partition 0 of topic/ });
  await hanging.abort();
  const read: string[] = [];
  await (await log.openPartition(0)).readChangelog((_key, value) => read.push(String(value)));
  assert.deepEqual(read, ['1', '2']);
});

kafkaTest('a hanging transaction in the input is named in readiness and once in the log, until it ends', async (t) => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const records = waves(1, 20, 1);
  const [before, after] = [records.slice(0, 10), records.slice(10)];
  const worker = await stream.startWorker();
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  await stream.feed(before);
  await stream.settled();
  const topic = stream.topics.observations;
  const hanging = await (await foreignTransactions(t, topic))([{ partition: 0, value: 'never committed' }]);
  // They can be read, and none of them may be.
  await stream.feed(after);
  const text = `A transaction hangs in partition 0 of topic ${topic} since offset ${before.length}`;
  await until('readiness names it', async () => {
    const { status, reasons } = (await worker.readiness())!;
    return status === 503 && String(reasons).startsWith(`partition 0 makes no progress: ${text}`);
  });
  await until('it is logged', () => worker.said().includes(text));
  await until('its lag is seen', async () => (await worker.metric('tidewatch_lag_records')) > 0);
  assert.equal(worker.sentences().length, 0);
  assert.equal(worker.said().split(text).length - 1, 1, 'it is logged once');
  await hanging.abort();
  await until('it is ready again', async () => (await worker.readiness())?.status === 200);
  await until('all are scored', async () => (await stream.scores()).length === records.length);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest('nothing is left behind markers of transactions, also of aborted ones: the lag is 0', async (t) => {
  const stream = await kafkaStream(1, [QUICK_DETECTOR]);
  const worker = await stream.startWorker();
  const begin = await foreignTransactions(t, stream.topics.observations);
  const records = waves(1, 20, 1).map(({ key, value }) => ({ partition: 0, key, value }));
  await (await begin(records.slice(0, 10))).commit();
  await stream.settled();
  await (await begin(records)).abort();
  await stream.settled();
  await (await begin(records.slice(10))).commit();
  // It compares the committed offset with the end of the topic, as tools of Kafka do.
  await stream.settled();
  await until('the metric is 0', async () => (await worker.metric('tidewatch_lag_records')) === 0);
  assert.equal((await stream.scores()).length, records.length);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  const restarted = await stream.startWorker();
  await until('it is ready', async () => (await restarted.readiness())?.status === 200);
  assert.equal((await stream.deadLetters()).length, 0);
  assert.deepEqual(await restarted.stop(), { code: 0, signal: null });
});

const folder = freshFolder();

/** Series of one observation every five minutes; a step of a record is a minute. */
function everyFiveMinutes(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) =>
    [0, 1, 2, 3].map((n) => ({ partition: n % 2, ...observationRecord(`cpu-${n}`, 5 * (from + i), Math.sin(i)) })),
  ).flat();
}

const detector = (freq: string) => `{ name: cpu, series: "*", freq: ${freq}, h: 8, detection_size: 8, context: 64 }`;
const SHADOWED = '{ name: db, series: "db-*", freq: h, h: 8, detection_size: 8, context: 64 }';

kafkaTest('settings that do not fit the input are found by the worker, and topics shows them elsewhere', async () => {
  const stream = await kafkaStream(2, [detector('30min'), SHADOWED]);
  const worker = await stream.startWorker();
  await stream.feed(everyFiveMinutes(0, 200));
  await stream.settled();
  const warnings = async () => (await worker.readiness())?.warnings ?? [];
  await until('both partitions are judged', async () => (await warnings()).some((text) => /of 800 obs/.test(text)));
  const readiness = await worker.readiness();
  assert.equal(readiness?.status, 200);
  assert.match(readiness.warnings.join('\n'), /^detector db: glob "db-\*" takes no series: detector cpu comes first/m);
  assert.match(
    readiness.warnings.join('\n'),
    /^detector cpu: series arrive every 5min, freq is 30min: \d{3} of 800 observations dropped as duplicates; set freq: 5min/m,
  );
  const found = () => worker.said().match(/"level":"warn".*series arrive every 5min/g)?.length ?? 0;
  assert.equal(found(), 1, 'it is logged once');
  await worker.counts('tidewatch_input_findings', 2);

  const file = join(folder, 'detectors.yaml');
  await writeFile(file, stream.detectors);
  const { config } = await kafkaConnection();
  const env = { KAFKA_BROKERS: config.brokers.join(), KAFKA_GROUP_ID: stream.groupId, DETECTORS: file };
  const topics = await runCommand(['topics', '--partitions', '2'], env);
  assert.equal(topics.exitCode, 0);
  for (const warning of readiness.warnings) assert.ok(topics.err.includes(warning), warning);

  await worker.rewriteDetectors(stream.detectors.replace('30min', '5min'));
  await worker.counts('tidewatch_detector_changes_total', 1);
  await stream.feed(everyFiveMinutes(200, 250));
  await stream.settled();
  await until('only the glob is left', async () => (await warnings()).length === 1);
  const later = await runCommand(['topics', '--partitions', '2'], env);
  assert.doesNotMatch(later.err.join('\n'), /series arrive every/);
  await worker.stop();
});

const f64: Field<number> = {
  write: (writer, value) => writer.bytes(8).writeDoubleBE(value),
  read: (reader) => reader.bytes(8).readDoubleBE(),
};

const ALTER_CLIENT_QUOTAS = {
  name: 'AlterClientQuotas',
  key: 49,
  versions: [0],
  compactSince: 99,
  request: {
    entries: array(
      struct({
        entity: array(struct({ type: string, name: string })),
        changes: array(struct({ key: string, value: f64, removes: i8 })),
      }),
    ),
    validatesOnly: i8,
  },
  answer: { clientSideThrottleTime: i32, entries: array(struct({ errorCode: i16, errorMessage: string })) },
};

/** Bytes a second that a client may write; null: as many as it likes. */
async function limitWrites(clientId: string, bytes: number | null): Promise<void> {
  const { cluster, destroy } = await linkCluster(await kafkaConnection(), []);
  try {
    const [broker] = Object.values(cluster.brokerPool.brokers);
    await broker.connect();
    const entity = [{ type: 'client-id', name: clientId }];
    const changes = [{ key: 'producer_byte_rate', value: bytes ?? 0, removes: Number(bytes === null) }];
    const answer = await sendRequest(broker, ALTER_CLIENT_QUOTAS, { entries: [{ entity, changes }], validatesOnly: 0 });
    assert.deepEqual(answer.entries[0], { errorCode: 0, errorMessage: null });
  } finally {
    destroy();
  }
}

kafkaTest('a worker that a quota delays is not ready, names the quota, and scores each record once', async () => {
  const stream = await kafkaStream(2, [QUICK_DETECTOR]);
  const records = waves(8, 100, 2);
  const clientId = `limited-${stream.groupId}`;
  const worker = await stream.startWorker({ KAFKA_CLIENT_ID: clientId });
  await until('it is ready', async () => (await worker.readiness())?.status === 200);
  await limitWrites(clientId, 20_000);
  await stream.feedSlowly(records, { batch: 40, everyMs: 50 });
  const reasons = async () => String((await worker.readiness())?.reasons);
  await until('the quota is named', async () => (await reasons()).includes(`a quota delays client ${clientId}`));
  await until('it is logged', () => worker.said().includes('a quota delays client'));
  assert.equal(worker.said().split('a quota delays client').length - 1, 1, 'it is logged once');
  await limitWrites(clientId, null);
  await stream.settled();
  await until('it is ready again', async () => (await worker.readiness())?.status === 200);
  assertScoredOnce(await stream.scores(), records);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});
