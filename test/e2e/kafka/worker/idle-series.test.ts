import assert from 'node:assert/strict';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { sines } from '../../../fixture/stream/scored-stream.ts';

const DETECTOR =
  '{ name: every, series: "*", freq: min, h: 8, detection_size: 8, level: 95, context: 64, idle_limit: 40min }';

const STAYING = ['a', 'b'];
const ALL = [...STAYING, 'gone'];

kafkaTest('a series that was forgotten stays forgotten when the worker is killed, and starts over', async () => {
  const stream = await kafkaStream(1, [DETECTOR]);
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
  assert.deepEqual(
    third.logged('restored').map(({ units }) => units),
    [2],
  );
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
