import assert from 'node:assert/strict';
import { asAdmin } from '../../../../src/kafka/admin/admin-client.ts';
import type { ProducerRecord } from '../../../../src/kafka/produce/bulk-producer.ts';
import type { DeadLetterReason } from '../../../../src/records/dead-letter.ts';
import { kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaClient } from '../../../fixture/kafka/kafka-client.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { observationRecord, START_MS } from '../../../fixture/stream/stream-run.ts';

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
  assert.deepEqual(
    letters.map(({ reason }) => reason),
    BAD.map(([reason]) => reason),
  );
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
  assert.deepEqual(
    scores.map(({ position }) => position),
    good.map((_, step) => step),
  );
  await worker.counts('tidewatch_duplicates_total', 2);
  await worker.counts('tidewatch_dead_letters_total', BAD.length);
  await worker.counts('tidewatch_dead_letters_total', 1, 'reason="late"');
  await worker.counts('tidewatch_without_value_total', 1);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});

kafkaTest(
  'an observation whose score is too old for its topic becomes a dead letter and holds up no other',
  async () => {
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
    assert.deepEqual(
      letters.map(({ reason, input: { offset } }) => [reason, offset]),
      [['record-failed', 4]],
    );
    assert.match(letters[0].detail, /timestamp of the message is out of acceptable range.*processing-time/);
    assert.equal((await stream.scores()).length, 9);
    await worker.stop();
  },
);

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
