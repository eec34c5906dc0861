import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { detectorsFile, type KafkaStream, kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { assertSameScores, assertScoredOnce, QUICK_DETECTOR } from '../../../fixture/stream/scored-stream.ts';
import { observationRecord } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

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

kafkaTest(
  'a worker that is killed repeatedly scores each observation and step once, and opens and closes each event once, as one that is not',
  async () => {
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
  },
);

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
