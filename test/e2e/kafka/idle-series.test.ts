import assert from 'node:assert/strict';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { observationRecord } from '../../fixture/stream/stream-run.ts';

const DETECTOR =
  '{ name: every, series: "*", freq: min, h: 8, detection_size: 8, level: 95, context: 64, idle_limit: 40min }';

/** Two series that go on, and one that is there only at some steps. */
function steps(from: number, to: number, isThere: boolean) {
  return Array.from({ length: to - from }, (_, i) =>
    ['a', 'b', ...(isThere ? ['gone'] : [])].map((series) => ({
      partition: 0,
      ...observationRecord(series, from + i, Math.sin(from + i)),
    })),
  ).flat();
}

kafkaTest('a series that was forgotten stays forgotten when the worker is killed, and starts over', async () => {
  const stream = await kafkaStream(1, [DETECTOR]);
  const first = await stream.startWorker();
  await stream.feed(steps(0, 30, true));
  await stream.settled();
  await first.kill();
  const second = await stream.startWorker();
  await stream.feed(steps(30, 80, false));
  await stream.settled();
  await second.counts('tidewatch_series_forgotten_total', 1, 'idle');
  await second.kill();
  const third = await stream.startWorker();
  await stream.feed(steps(80, 90, true));
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
