import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { kafkaTest } from '../fixture/kafka.ts';
import { kafkaStream, until } from '../fixture/kafka-stream.ts';
import { assertSameScores, assertScoredOnce, QUICK_DETECTOR, waves } from '../fixture/scored-stream.ts';

const PARTITIONS = 4;
const KILLS = 5;
const records = waves(20, 120, PARTITIONS);

kafkaTest('a worker that is killed again and again scores each observation once, as one that never was', async (t) => {
  const calm = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  await calm.feed(records);
  const worker = await calm.startWorker();
  await calm.settled();
  await worker.stop();
  const expected = await calm.scores();
  assertScoredOnce(expected, records);
  assert.ok(expected.some(({ state }) => state === 'scored'));

  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const feeding = stream.feedSlowly(records, { batch: 40, everyMs: 200 });
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = await stream.startWorker();
    const before = (await stream.scores()).length;
    await until('the worker scores', async () => (await stream.scores()).length > before);
    await sleep(randomInt(600));
    await victim.kill();
    t.diagnostic(`killed after ${(await stream.scores()).length} scores`);
  }
  await feeding;
  const last = await stream.startWorker();
  await stream.settled();
  await last.stop();
  const scores = await stream.scores();
  assertScoredOnce(scores, records);
  assertSameScores(scores, expected);
});
