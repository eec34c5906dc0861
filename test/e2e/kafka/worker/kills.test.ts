import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { POSITION_KEY } from '../../../../src/checkpoint/partition-records.ts';
import { createKafkaLog } from '../../../../src/engine/log/kafka-log.ts';
import type { OutputRecord } from '../../../../src/engine/log/log.ts';
import { type ProducerRecord, produceRecords } from '../../../../src/kafka/produce/bulk-producer.ts';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../../src/records/score-record.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import type { WorkerProcess } from '../../../fixture/kafka/worker-process.ts';
import {
  assertSameScores,
  assertScoredOnce,
  QUICK_DETECTOR,
  sines,
  waves,
} from '../../../fixture/stream/scored-stream.ts';
import {
  lines,
  observationRecord,
  START_MS,
  stepOf,
  streamConfig,
  streamRun,
} from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';
import { type GoldenScore, readGolden } from '../../../golden/changelog/golden-file.ts';
import { changelogOf, detectorOf, goldenScores, recordsOf } from '../../../golden/changelog/golden-run.ts';

const PARTITIONS = 4;
const KILLS = 4;
const SERIES = 16;
const STEPS = 152;
/** Takes half of the series. */
const AGGREGATED =
  '{ name: steps, series: ["s8", "s9", "s1?"], freq: 4min, aggregate: mean, h: 4, detection_size: 4, context: 64 }';
const DETECTORS = [AGGREGATED, QUICK_DETECTOR];
/** The last step of each of those is open. */
const outcomes = { length: (SERIES / 2) * (STEPS + STEPS / 4 - 1) };

/** Each series has a spike and a level shift; those of odd series are still going on at the end. */
function valueAt(series: number, step: number): number {
  const usual = 10 + Math.sin(step + series) + ((step * 7 + series) % 3);
  if (step === 70 + series) return usual + 60;
  const shifted = series % 2 === 0 ? step >= 110 && step < 120 : step >= STEPS - 4;
  return shifted ? usual - 40 : usual;
}

const records = Array.from({ length: STEPS * SERIES }, (_, i) => {
  const [step, series] = [Math.floor(i / SERIES), i % SERIES];
  return { partition: series % PARTITIONS, ...observationRecord(`s${series}`, step, valueAt(series, step)) };
});

const inOrder = (events: readonly AnomalyEvent[]) =>
  events.toSorted((a, b) => (a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.revision - b.revision));

kafkaTest('a worker that is killed repeatedly writes each score and event once, as one that is not', async () => {
  const calm = await kafkaStream(PARTITIONS, DETECTORS);
  await calm.feed(records);
  const worker = await calm.startWorker();
  await calm.settled();
  await worker.stop();
  const expected = { scores: await calm.scores(), events: inOrder(await calm.events()) };
  assertScoredOnce(expected.scores, outcomes);
  assert.ok(expected.scores.some(({ state }) => state === 'scored'));
  const open = openOf(expected.events);
  assert.ok(expected.events.length > 2 * SERIES && open.length > 0, 'there are events, and some are open');

  const stream = await kafkaStream(PARTITIONS, DETECTORS);
  await killRepeatedly(stream);
  const scores = await stream.scores();
  assertScoredOnce(scores, outcomes);
  assertSameScores(scores, expected.scores);
  assert.deepEqual(inOrder(await stream.events()), expected.events);

  // A removed detector ends them: the first record of a partition, of a series that another one watches, does.
  const other = QUICK_DETECTOR.replace('"*"', '"other-*"');
  const after = await stream.startWorker({}, detectorsFile(stream.topics, [other]));
  const next = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  await stream.feed(next.map((partition) => ({ partition, ...observationRecord('other-1', STEPS, 1) })));
  await stream.settled();
  await after.stop();
  const ended = (await stream.events()).filter(({ closeReason }) => closeReason === 'detector_removed');
  assert.deepEqual(ended.map(({ eventId }) => eventId).sort(), open);
  assert.deepEqual(openOf(await stream.events()), []);
});

/** Feeds all records to workers that are killed with -9, one after the other, and then to one that is not. */
async function killRepeatedly(stream: KafkaStream): Promise<void> {
  const share = records.length / KILLS;
  for (let kill = 0; kill < KILLS; kill++) {
    // Each has records of its own to score, however long it takes to start.
    const own = records.slice(kill * share, (kill + 1) * share);
    const before = (await stream.scores()).length;
    const victim = await stream.startWorker();
    await stream.feed(own.slice(0, share / 2));
    await until('the worker scores', async () => (await stream.scores()).length > before);
    const feeding = stream.feedSlowly(own.slice(share / 2), { batch: 40, everyMs: 50 });
    await sleep(randomInt(600));
    await victim.kill();
    await feeding;
  }
  const last = await stream.startWorker();
  await stream.settled();
  await last.stop();
}

/** Ids of the events that were not closed. */
function openOf(events: readonly AnomalyEvent[]): string[] {
  const closed = new Set(events.filter(({ type }) => type === 'closed').map(({ eventId }) => eventId));
  return [...new Set(events.map(({ eventId }) => eventId))].filter((id) => !closed.has(id)).sort();
}

const GROUPED = [
  '{ name: cluster, series: "*", freq: min, h: 4, detection_size: 4, context: 32, level: 99, threshold_method: multivariate, group: group }',
];
const MEMBERS = ['a', 'b', 'c'];

function observation(member: string, step: number): ProducerRecord {
  const which = MEMBERS.indexOf(member);
  const noise = ((step * 7_919 + which * 104_729) % 101) / 100;
  return { partition: 0, ...observationRecord(member, step, Math.sin(step / (2 + which)) + noise, 'eu') };
}

for (const [how, end] of [
  ['stopped', 'stop'],
  ['killed', 'kill'],
] as const) {
  kafkaTest(`a worker that is ${how} in the middle of a step of a group loses nothing of it`, async () => {
    const stream = await kafkaStream(1, GROUPED);
    for (let step = 0; step < 30; step += 10) {
      const worker = await stream.startWorker();
      const whole = Array.from({ length: 9 }, (_, i) => MEMBERS.map((member) => observation(member, step + i)));
      await stream.feed([...whole.flat(), observation('a', step + 9), observation('c', step + 9)]);
      await stream.settled();
      await worker[end]();
      await stream.feed([observation('b', step + 9)]);
    }
    const last = await stream.startWorker();
    await stream.settled();
    const scores = await stream.scores();
    const orderAt = (step: number) => (step % 10 === 9 ? ['a', 'c', 'b'] : MEMBERS);
    const actual = lines(scores, ({ timestampMs }) => stepOf(timestampMs), 'series', 'position');
    const expected = Array.from({ length: 30 }, (_, step) =>
      orderAt(step).map((member) => `${step} ${member} ${step}`),
    ).flat();
    assert.deepEqual(actual, expected);
    assert.ok(scores.every(({ restarted }) => !restarted));
    await last.stop();
  });
}

const FORGETTING =
  '{ name: every, series: "*", freq: min, h: 8, detection_size: 8, level: 95, context: 64, idle_limit: 40min }';

const STAYING = ['a', 'b'];
const ALL = [...STAYING, 'gone'];

kafkaTest('a series that was forgotten stays forgotten when the worker is killed, and starts over', async () => {
  const stream = await kafkaStream(1, [FORGETTING]);
  const first = await stream.startWorker();
  await stream.feed(sines(ALL, 0, 30));
  await stream.settled();
  await first.kill();
  const second = await stream.startWorker();
  await stream.feed(sines(STAYING, 30, 80));
  await stream.settled();
  await second.counts('tidewatch_series_forgotten_total', 1, 'idle');
  await second.kill();
  const third = await stream.startWorker();
  await stream.feed(sines(ALL, 80, 90));
  await stream.settled();
  await third.counts('tidewatch_units_held', 3);
  const actual = third.logged('restored').map(({ units }) => units);
  assert.deepEqual(actual, [2]);
  await third.stop();
  const own = (await stream.scores()).filter(({ series, state }) => series === 'gone' && state !== 'silent');
  assert.deepEqual(
    own.slice(28, 32).map(({ position, restarted }) => [position, restarted]),
    [
      [28, false],
      [29, false],
      [0, false],
      [1, false],
    ],
  );
});

const SHARED_PARTITIONS = 8;
const shared = waves(24, 110, SHARED_PARTITIONS);

kafkaTest('workers that join, leave and are killed score each observation once', async (t) => {
  const stream = await kafkaStream(SHARED_PARTITIONS, [QUICK_DETECTOR]);
  const share = (workers: readonly WorkerProcess[], ...partitions: number[]) =>
    until(`the workers own ${partitions} partitions`, async () => {
      const owned = await Promise.all(workers.map((worker) => worker.metric('tidewatch_partitions_assigned')));
      const ready = await Promise.all(workers.map((worker) => worker.readiness()));
      return owned.join() === partitions.join() && ready.every((readiness) => readiness?.status === 200);
    });

  const stays = await stream.startWorker();
  await share([stays], 8);
  const feeding = stream.feedSlowly(shared, { batch: 48, everyMs: 150 });
  const leaves = await stream.startWorker();
  await share([stays, leaves], 4, 4);
  assert.deepEqual(await leaves.stop(), { code: 0, signal: null });
  await share([stays], 8);
  const killed = await stream.startWorker();
  await share([stays, killed], 4, 4);
  await killed.kill();
  t.diagnostic(`${(await stream.scores()).length} of ${shared.length} scored when the last one died`);
  await feeding;
  await share([stays], 8);
  await stream.settled();
  assertScoredOnce(await stream.scores(), shared);
  // All at first, then what each of the others left. What it kept was never restored.
  await stays.counts('tidewatch_restore_seconds_count', SHARED_PARTITIONS + 4 + 4);
  assert.deepEqual(await stays.stop(), { code: 0, signal: null });
});

const PAUSED_PARTITIONS = 2;
const PAUSED_SERIES = 60;
const PAUSED =
  '{ name: web, series: "*", freq: s, h: 8, detection_size: 8, level: 95, context: 64, gap_limit: 64, silence_after: 5 }';
const SECOND_MS = 1_000;

/** A series is in the partition of its number. */
function steps(from: number, to: number) {
  return Array.from({ length: (to - from) * PAUSED_SERIES }, (_, i) => {
    const [step, series] = [from + Math.floor(i / PAUSED_SERIES), i % PAUSED_SERIES];
    const observation = { series: `s${series}`, timestamp: START_MS + step * SECOND_MS, value: step % 3 };
    const [key, value] = [Buffer.from(observation.series), Buffer.from(JSON.stringify(observation))];
    return { partition: series % PAUSED_PARTITIONS, key, value };
  });
}

kafkaTest('a feeder that stops is one event of each partition, also when the worker is killed meanwhile', async () => {
  const stream = await kafkaStream(PAUSED_PARTITIONS, [PAUSED]);
  // Without that after the records of the second worker, which a busy machine may be late to stop.
  const isOfGap = ({ kind, startedAtMs }: AnomalyEvent) =>
    kind === 'silence' && startedAtMs < START_MS + 60 * SECOND_MS;
  const pauses = async () => (await stream.events()).filter(isOfGap);
  const first = await stream.startWorker();
  await stream.feed(steps(0, 20));
  await stream.settled();
  await until('both partitions are in a pause', async () => (await pauses()).length >= PAUSED_PARTITIONS);
  await first.kill();
  const second = await stream.startWorker();
  await stream.feed(steps(60, 70));
  await stream.settled();
  await second.stop();

  assert.deepEqual(lines(await pauses(), 'type', 'detector', 'series', 'group', 'seriesCount', 'closeReason').sort(), [
    ...Array(PAUSED_PARTITIONS).fill('closed web null null 30 returned'),
    ...Array(PAUSED_PARTITIONS).fill('opened web null null 30 null'),
  ]);
  assert.equal(new Set((await pauses()).map(({ eventId }) => eventId)).size, PAUSED_PARTITIONS);
  const silent = (await stream.scores()).filter(({ state }) => state === 'silent' || state === 'returned');
  assert.deepEqual(silent, []);
});

/** As the last release wrote them. */
const FORMAT = 5;
/** Observations of one burst of the live stream. */
const BURST = 7;

/** The position in a changelog names the topic that it is of, and this one has another id. */
function ofThisTopic(record: OutputRecord): OutputRecord {
  if (!record.key?.equals(POSITION_KEY)) return record;
  return { ...record, value: Buffer.from(JSON.stringify({ ...JSON.parse(String(record.value)), topic_id: null })) };
}

for (const name of ['plain', 'group']) {
  kafkaTest(`an upgrade under a live stream continues to the scores of the last release: ${name}`, async (t) => {
    const golden = readGolden(FORMAT, name);
    const connection = await kafkaConnection();
    const topics = await freshTopics(1);
    const log = createKafkaLog({ ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 10_000 });
    t.after(() => log.close());
    const records = recordsOf(golden.detector, golden.observations).map((record) => ({ partition: 0, ...record }));
    const append = (from: number, to: number) =>
      produceRecords(connection, topics.observations, records.slice(from, to));
    await append(0, golden.committed);
    const session = await log.openPartition(0);
    await session.commit(changelogOf(golden, topics.changelog).map(ofThisTopic), golden.committed);
    await session.close();

    const detector = detectorOf(golden.detector);
    const run = streamRun({ detectors: [detector], limits: { seriesMax: golden.detector.seriesMax } });
    const worker = await run.start({ log, stream: { ...streamConfig([detector]), topics } });
    for (let at = golden.committed; at < records.length; at += BURST) await append(at, at + BURST);
    const scores = async () => {
      const written = await committedRecords(topics.scores, 0);
      return written.map(({ value }) => JSON.parse(String(value)) as ScoreRecord);
    };
    await until('every observation is scored', async () => (await scores()).length >= golden.scores.length);
    await worker.stop();
    // Series of one burst may be scored in another order.
    const inOrder = (all: readonly GoldenScore[]) => all.toSorted((a, b) => a.offset - b.offset);
    assert.deepEqual(inOrder(goldenScores(await scores())), inOrder(golden.scores));
  });
}

const STATIC_PARTITIONS = 4;

const started = (stream: KafkaStream, id: string): Promise<WorkerProcess> =>
  stream.startWorker({ KAFKA_GROUP_INSTANCE_ID: id, KAFKA_SESSION_MS: '30000' });

const assignments = (worker: WorkerProcess) => worker.logged('assigned').map(({ partitions }) => partitions);

const isReady = async (worker: WorkerProcess) => (await worker.readiness())?.status === 200;

kafkaTest('a static worker that comes back within the session time-out keeps its partitions', async () => {
  const stream = await kafkaStream(STATIC_PARTITIONS, [QUICK_DETECTOR]);
  const records = waves(8, 30, STATIC_PARTITIONS);
  // The first one leads the group.
  const first = await started(stream, 'worker-0');
  await until('the first one is ready', () => isReady(first));
  const second = await started(stream, 'worker-1');
  await until('they share the partitions', async () => {
    const shares = [first, second].map((worker) => (assignments(worker).at(-1) as number[] | undefined)?.length);
    return shares.join() === '2,2' && (await isReady(first)) && (await isReady(second));
  });
  const before = [assignments(first), assignments(second)];
  await stream.feed(records.slice(0, records.length / 2));
  await stream.settled();
  for (const end of [() => second.stop(), () => second.kill()]) await end();
  const back = await started(stream, 'worker-1');
  await until('it is ready again', () => isReady(back));
  assert.deepEqual(assignments(back).at(-1), before[1].at(-1));
  assert.deepEqual(assignments(first), before[0], 'the other one has seen no rebalance');

  // The leader, too.
  await first.kill();
  const leader = await started(stream, 'worker-0');
  await until('it is ready again', () => isReady(leader));
  assert.deepEqual(assignments(leader).at(-1), before[0].at(-1));
  assert.equal(assignments(back).length, 1, 'the other one has seen no rebalance');
  await stream.feed(records.slice(records.length / 2));
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  await Promise.all([leader.stop(), back.stop()]);
});

kafkaTest('of two workers with one instance id the earlier one ends with the reason', async () => {
  const stream = await kafkaStream(STATIC_PARTITIONS, [QUICK_DETECTOR]);
  const earlier = await started(stream, 'worker-0');
  await until('it is ready', () => isReady(earlier));
  const later = await started(stream, 'worker-0');
  assert.deepEqual(await earlier.ended, { code: 1, signal: null });
  const text =
    `Another worker of group ${stream.groupId} has joined with the instance id worker-0, and replaces this one: ` +
    'give each worker a KAFKA_GROUP_INSTANCE_ID of its own';
  assert.ok(earlier.said().includes(text), earlier.said());
  await until('the later one is ready', () => isReady(later));
  const records = waves(4, 10, STATIC_PARTITIONS);
  await stream.feed(records);
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  await later.stop();
});
