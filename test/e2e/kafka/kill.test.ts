import assert from 'node:assert/strict';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { killRepeatedly } from '../../fixture/kafka/kill-repeatedly.ts';
import { assertSameScores, assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';

const PARTITIONS = 4;
const KILLS = 5;
const BATCH = 40;
const SERIES = 20;
const STEPS = 120;
const records = waves(SERIES, STEPS, PARTITIONS);
/** Takes half of the series. */
const AGGREGATED =
  '{ name: steps, series: "series-1?", freq: 4min, aggregate: mean, h: 4, detection_size: 4, context: 64 }';
/** The last step of each is open. */
const outcomes = { length: (SERIES / 2) * (STEPS + STEPS / 4 - 1) };

kafkaTest(
  'a worker that is killed repeatedly scores each observation, and each step of several, once, to the same numbers as one that is not',
  async () => {
    const calm = await kafkaStream(PARTITIONS, [AGGREGATED, QUICK_DETECTOR]);
    await calm.feed(records);
    const worker = await calm.startWorker();
    await calm.settled();
    await worker.stop();
    const expected = await calm.scores();
    assertScoredOnce(expected, outcomes);
    assert.ok(expected.some(({ state }) => state === 'scored'));

    const stream = await kafkaStream(PARTITIONS, [AGGREGATED, QUICK_DETECTOR]);
    await killRepeatedly(stream, { records, kills: KILLS, atOnce: BATCH, batch: BATCH, everyMs: 100, withinMs: 600 });
    const scores = await stream.scores();
    assertScoredOnce(scores, outcomes);
    assertSameScores(scores, expected);
  },
);
