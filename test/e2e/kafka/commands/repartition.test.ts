import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ISocketFactory } from 'kafkajs';
import { repartitionOf } from '../../../../src/config/rekeyed-input.ts';
import { deleteCommitted, ensureRepartition } from '../../../../src/engine/topics/repartition-topics.ts';
import { raisePartitions } from '../../../../src/kafka/admin/raise-partitions.ts';
import { produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import { keyPartitioner } from '../../../../src/kafka/produce/key-partition.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { runCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { alteredResponses, METADATA } from '../../../fixture/kafka/altered-responses.ts';
import { committedRecords, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { published } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord, streamConfig } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

/** Partitions of the input are carried over one after the other: between them event time goes back and forth. */
const DETECTOR =
  '{ name: every, series: "*", freq: min, h: 8, detection_size: 8, level: 95, context: 64, silence_after: off }';
const PARTITIONS = 4;
const INPUT_PARTITIONS = 6;
const SERIES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const STEPS = 120;
const INPUT = '{ repartition: true }';

/** A stream whose input has more partitions than its scores. */
async function rekeyedStream(
  socketsOf?: (topic: string) => ISocketFactory,
): Promise<{ stream: KafkaStream; internal: string; groupId: string }> {
  const stream = await kafkaStream(PARTITIONS, [DETECTOR], INPUT);
  const connection = await kafkaConnection();
  await raisePartitions(connection, [stream.topics.observations], INPUT_PARTITIONS);
  const groupId = `group-${stream.topics.observations}`;
  const input = { ...streamConfig([]).input, repartition: true };
  const repartition = repartitionOf({ groupId, topics: stream.topics, input })!;
  const creation = { partitions: 1, replicationFactor: 1, retentionMs: null, scores: stream.topics.scores };
  const made = await ensureRepartition(
    { ...connection, ...(socketsOf && { socketFactory: socketsOf(repartition.topic) }) },
    repartition,
    creation,
  );
  assert.deepEqual(made, [repartition.topic, repartition.topics.changelog]);
  return { stream, internal: repartition.topic, groupId };
}

/** Of each series in one partition, but without a key, or with that of another one. */
function records(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((step) =>
    SERIES.map((series, which) => ({
      partition: which % INPUT_PARTITIONS,
      value: observationRecord(series, step, Math.sin(step / 3) * 9 + ((step * 7 + which) % 5)).value,
      key: which % 2 === 0 ? null : Buffer.from('another'),
      timestampMs: Date.UTC(2026, 0, 1) + step * 1_000 + which,
      headers: [
        ['trace', Buffer.from(`${series}-${step}`)],
        ['empty', Buffer.alloc(0)],
      ] as const,
    })),
  );
}

async function scored(stream: KafkaStream, count: number): Promise<ScoreRecord[]> {
  let scores: ScoreRecord[] = [];
  await until(`${count} observations are scored`, async () => {
    scores = await stream.scores();
    return scores.length >= count;
  });
  return scores;
}

kafkaTest('records are re-keyed exactly once under kills, and scored as those that had the right key', async () => {
  const { stream, internal, groupId } = await rekeyedStream();
  const all = records(0, STEPS);
  for (let step = 0; step < STEPS; step += 30) {
    const worker = await stream.startWorker();
    const last = step + 30 >= STEPS;
    await produceRecords(await kafkaConnection(), stream.topics.observations, records(step, step + 30));
    if (last) await scored(stream, all.length);
    else
      await until(
        'some are carried over',
        async () => (await worker.metric('tidewatch_records_repartitioned_total')) > 0,
      );
    await worker.kill();
  }
  const partitionOf = keyPartitioner(PARTITIONS);
  const carried = [];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for (const { key, value, timestampMs, headers } of await committedRecords(internal, partition)) {
      assert.equal(partitionOf(key!), partition);
      carried.push({ key: key!.toString(), value: value!.toString(), timestampMs, headers });
    }
  }
  const byTime = (a: { timestampMs: number }, b: { timestampMs: number }) => a.timestampMs - b.timestampMs;
  const expected = all.map(({ value, timestampMs, headers }) => {
    return { key: JSON.parse(value.toString()).series as string, value: value.toString(), timestampMs, headers };
  });
  assert.deepEqual(carried.sort(byTime), expected.sort(byTime));

  const plain = await kafkaStream(PARTITIONS, [DETECTOR]);
  await plain.feed(all.map(({ value }) => ({ value, key: Buffer.from(JSON.parse(value.toString()).series) })));
  const worker = await plain.startWorker();
  await plain.settled();
  await worker.stop();
  assert.deepEqual(published(await stream.scores()), published(await plain.scores()));
  assert.deepEqual(await stream.deadLetters(), []);

  const deleted = await deleteCommitted(await kafkaConnection(), { groupId, topic: internal });
  assert.ok(deleted >= all.length);
  assert.deepEqual(await committedRecords(internal, 0), []);
  const after = await stream.startWorker();
  await produceRecords(await kafkaConnection(), stream.topics.observations, records(STEPS, STEPS + 1));
  const scores = await scored(stream, all.length + SERIES.length);
  assert.ok(scores.filter(({ position }) => position === STEPS).length === SERIES.length);
  await after.stop();
});

/** A series without keys whose steps are in all partitions in turn, before a worker starts. */
async function keylessBacklog() {
  const { stream } = await rekeyedStream();
  const all = Array.from({ length: STEPS }, (_, step) => ({
    ...observationRecord('a', step, step % 7),
    partition: step % INPUT_PARTITIONS,
    key: null,
    timestampMs: Date.UTC(2026, 0, 1) + step * 60_000,
  }));
  await produceRecords(await kafkaConnection(), stream.topics.observations, all);
  return stream;
}

kafkaTest('a backlog of a series without keys in several partitions is passed on in order of time', async () => {
  const stream = await keylessBacklog();
  const worker = await stream.startWorker();
  assert.equal((await scored(stream, STEPS)).length, STEPS);
  assert.deepEqual(await stream.deadLetters(), [], 'none is late');
  await worker.stop();
});

kafkaTest('two workers score each point of such a backlog once, or name it late: none is lost', async () => {
  const stream = await keylessBacklog();
  const workers = await Promise.all([stream.startWorker(), stream.startWorker()]);
  const scoredTimes = async () => (await stream.scores()).map(({ timestampMs }) => timestampMs);
  const lateTimes = async () =>
    (await stream.deadLetters()).map(({ reason, value }) => {
      assert.equal(reason, 'late');
      return (JSON.parse(String(Buffer.from(value!, 'base64'))) as { timestamp: number }).timestamp;
    });
  await until('every point is scored or late', async () => {
    return (await scoredTimes()).length + (await lateTimes()).length >= STEPS;
  });
  assert.equal(new Set([...(await scoredTimes()), ...(await lateTimes())]).size, STEPS);
  for (const worker of workers) await worker.stop();
});

kafkaTest('records that cannot be read are passed on with their keys, and become dead letters once', async () => {
  const { stream } = await rekeyedStream();
  const bad = [
    { partition: 0, key: null, value: Buffer.from('{') },
    { partition: 5, key: Buffer.from('k'), value: Buffer.from('[') },
    { partition: 5, key: null, value: Buffer.from('{"series":"a","timestamp":1767225600000,"value":"much"}') },
  ];
  await produceRecords(await kafkaConnection(), stream.topics.observations, bad);
  const worker = await stream.startWorker({}, detectorsFile(stream.topics, [DETECTOR], INPUT));
  await until('all of them are dead letters', async () => (await stream.deadLetters()).length >= bad.length);
  await worker.stop();
  assert.deepEqual((await stream.deadLetters()).map(({ reason }) => reason).sort(), [
    'record-unreadable',
    'record-unreadable',
    'value-not-a-number',
  ]);
});

const UNKNOWN_TOPIC_OR_PARTITION = 3;

kafkaTest('a new topic that its broker does not know at once is waited for', async () => {
  let hidden = false;
  await rekeyedStream((topic) =>
    alteredResponses(({ apiKey, body }) => {
      const at = body.indexOf(topic);
      if (hidden || at < 0 || apiKey !== METADATA) return;
      // error code i16 | length of the name, one byte | name
      body.writeInt16BE(UNKNOWN_TOPIC_OR_PARTITION, at - 3);
      hidden = true;
    }),
  );
  assert.ok(hidden);
});

kafkaTest('the command makes the topics: those that wait to be scored are kept for ever', async () => {
  const connection = await kafkaConnection();
  const id = randomUUID().slice(0, 8);
  const file = join(freshFolder(), 'detectors.yaml');
  const topics = { observations: `in-${id}`, scores: `s-${id}`, events: `e-${id}`, changelog: `c-${id}` };
  await writeFile(file, detectorsFile({ ...topics, deadLetters: `d-${id}` }, [DETECTOR], INPUT));
  const env = { KAFKA_BROKERS: connection.config.brokers.join(), KAFKA_GROUP_ID: id, DETECTORS: file };
  const made = await runCommand(['topics', '--partitions', '3'], env);
  assert.deepEqual([made.exitCode, made.err], [0, []]);
  for (const name of [`${id}-repartition`, `${id}-repartition-changelog`, ...Object.values(topics), `d-${id}`]) {
    assert.ok(made.out.includes(`made ${name}`), `${name}: ${made.out}`);
  }
  const again = await runCommand(['topics', '--partitions', '3'], env);
  const actual = again.out.filter((line) => line.startsWith('made '));
  assert.deepEqual(actual, []);
});
