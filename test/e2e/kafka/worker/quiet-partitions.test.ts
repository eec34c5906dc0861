import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { foreignTransactions } from '../../../fixture/kafka/kafka-client.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import { until } from '../../../fixture/until.ts';

const PARTITIONS = 4;
const SERIES = 20;
const STEP_MS = 1_000;
const START_MS = Date.UTC(2025, 0, 1);
/** A machine may need most of half a minute between two batches of the feeder. */
const SILENCE_AFTER = 30;
const SETTINGS = 'h: 8, detection_size: 8, level: 95, context: 64, gap_limit: 64';
const DETECTOR = `{ name: web, series: "*", freq: s, ${SETTINGS}, silence_after: ${SILENCE_AFTER} }`;

/** Of the first partition. */
const GOES_ON = [0, 4, 8];
/** Its series go on, too, and nothing of them can be read. */
const HANGING = 3;

const isOf = (partition: number) => (series: number) => series % PARTITIONS === partition;

/** A series is in the partition of its number. */
function steps(from: number, to: number, series: readonly number[]) {
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((step) =>
    series.map((one) => {
      const observation = { series: `s${one}`, timestamp: START_MS + step * STEP_MS, value: step % 3 };
      const [key, value] = [Buffer.from(observation.series), Buffer.from(JSON.stringify(observation))];
      return { partition: one % PARTITIONS, key, value };
    }),
  );
}

kafkaTest('series that stop are silent wherever they are, and none of a partition that cannot be read', async (t) => {
  const stream = await kafkaStream(PARTITIONS, [DETECTOR]);
  const worker = await stream.startWorker();
  const all = Array.from({ length: SERIES }, (_, series) => series);
  const waiting = all.filter(isOf(HANGING));
  await stream.feed(steps(0, 60, all));
  await stream.settled();
  const begin = await foreignTransactions(t, stream.topics.observations);
  const hanging = await begin([{ partition: HANGING, value: 'never committed' }]);

  const silent = async () => {
    const events = await stream.events();
    return events.filter(({ kind, type }) => kind === 'silence' && type === 'opened').map(({ series }) => series);
  };
  let step = 60;
  const allSilent = async (stopped: readonly number[], sent: readonly number[]) => {
    await until(`${stopped.length} series are silent`, async () => {
      await stream.feed(steps(step, step + 2, sent));
      step += 2;
      await sleep(500);
      return (await silent()).length >= stopped.length;
    });
    assert.deepEqual((await silent()).sort(), stopped.map((series) => `s${series}`).sort());
  };
  const stopped = all.filter((series) => !GOES_ON.includes(series));
  const readable = stopped.filter((series) => !waiting.includes(series));
  await allSilent(readable, [...GOES_ON, ...waiting]);

  await hanging.abort();
  // What hung is read, and then all of these stop except one, whose event time shows that the others have stopped.
  await stream.settled();
  assert.equal((await silent()).length, readable.length);
  const [goesOn, ...late] = waiting;
  await allSilent([...readable, ...late], [...GOES_ON, goesOn]);
  assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});
