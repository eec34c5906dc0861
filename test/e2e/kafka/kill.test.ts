import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { assertSameScores, assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { until } from '../../fixture/until.ts';

const PARTITIONS = 4;
const KILLS = 5;
const BATCH = 40;
const records = waves(20, 120, PARTITIONS);

kafkaTest(
  'a worker that is killed repeatedly scores each observation once, to the same numbers as one that is not',
  async (t) => {
    const calm = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    await calm.feed(records);
    const worker = await calm.startWorker();
    await calm.settled();
    await worker.stop();
    const expected = await calm.scores();
    assertScoredOnce(expected, records);
    assert.ok(expected.some(({ state }) => state === 'scored'));

    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    const share = records.length / KILLS;
    for (let kill = 0; kill < KILLS; kill++) {
      // Each has records of its own to score, however long it takes to start, and is killed while more of them arrive.
      const own = records.slice(kill * share, (kill + 1) * share);
      const before = (await stream.scores()).length;
      const victim = await stream.startWorker();
      await stream.feed(own.slice(0, BATCH));
      await until('the worker scores', async () => (await stream.scores()).length > before);
      const feeding = stream.feedSlowly(own.slice(BATCH), { batch: BATCH, everyMs: 100 });
      await sleep(randomInt(600));
      await victim.kill();
      t.diagnostic(`killed after ${(await stream.scores()).length} scores`);
      await feeding;
    }
    const last = await stream.startWorker();
    await stream.settled();
    await last.stop();
    const scores = await stream.scores();
    assertScoredOnce(scores, records);
    assertSameScores(scores, expected);
  },
);
