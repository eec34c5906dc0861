import assert from 'node:assert/strict';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { killRepeatedly } from '../../fixture/kafka/kill-repeatedly.ts';
import { assertSameScores, assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';

const PARTITIONS = 4;
const KILLS = 5;
const BATCH = 40;
const records = waves(20, 120, PARTITIONS);

kafkaTest(
  'a worker that is killed repeatedly scores each observation once, to the same numbers as one that is not',
  async () => {
    const calm = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    await calm.feed(records);
    const worker = await calm.startWorker();
    await calm.settled();
    await worker.stop();
    const expected = await calm.scores();
    assertScoredOnce(expected, records);
    assert.ok(expected.some(({ state }) => state === 'scored'));

    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    await killRepeatedly(stream, { records, kills: KILLS, atOnce: BATCH, batch: BATCH, everyMs: 100, withinMs: 600 });
    const scores = await stream.scores();
    assertScoredOnce(scores, records);
    assertSameScores(scores, expected);
  },
);
