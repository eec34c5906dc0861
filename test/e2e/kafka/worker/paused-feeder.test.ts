import assert from 'node:assert/strict';
import type { AnomalyEvent } from '../../../../src/records/anomaly-event.ts';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { until } from '../../../fixture/until.ts';

const PARTITIONS = 2;
const SERIES = 60;
const STEP_MS = 1_000;
const START_MS = Date.UTC(2025, 0, 1);
const DETECTOR =
  '{ name: web, series: "*", freq: s, h: 8, detection_size: 8, level: 95, context: 64, gap_limit: 64, silence_after: 5 }';

/** A series is in the partition of its number. */
function steps(from: number, to: number) {
  return Array.from({ length: (to - from) * SERIES }, (_, i) => {
    const [step, series] = [from + Math.floor(i / SERIES), i % SERIES];
    const observation = { series: `s${series}`, timestamp: START_MS + step * STEP_MS, value: step % 3 };
    const [key, value] = [Buffer.from(observation.series), Buffer.from(JSON.stringify(observation))];
    return { partition: series % PARTITIONS, key, value };
  });
}

kafkaTest('a feeder that stops is one event of each partition, also when the worker is killed meanwhile', async () => {
  const stream = await kafkaStream(PARTITIONS, [DETECTOR]);
  const pauses = async () => (await stream.events()).filter(({ kind }) => kind === 'silence');
  const first = await stream.startWorker();
  await stream.feed(steps(0, 20));
  await stream.settled();
  await until('both partitions are in a pause', async () => (await pauses()).length >= PARTITIONS);
  await first.kill();
  const second = await stream.startWorker();
  await stream.feed(steps(60, 70));
  await stream.settled();
  await second.stop();

  const shown = ({ type, detector, series, group, seriesCount, closeReason }: AnomalyEvent) => {
    return JSON.stringify([type, detector, series, group, seriesCount, closeReason]);
  };
  const [opened, closed] = [
    JSON.stringify(['opened', 'web', null, null, SERIES / PARTITIONS, null]),
    JSON.stringify(['closed', 'web', null, null, SERIES / PARTITIONS, 'returned']),
  ];
  assert.deepEqual((await pauses()).map(shown).sort(), [closed, closed, opened, opened]);
  assert.equal(new Set((await pauses()).map(({ eventId }) => eventId)).size, PARTITIONS);
  const silent = (await stream.scores()).filter(({ state }) => state === 'silent' || state === 'returned');
  assert.deepEqual(silent, []);
});
