import assert from 'node:assert/strict';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { until } from '../../fixture/until.ts';

const PARTITIONS = 4;
const FREEZES = 3;
const records = waves(16, 90, PARTITIONS);

kafkaTest(
  'a worker that was frozen until others took over scores nothing twice, and fences no owner again',
  async (t) => {
    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    const frozen = await stream.startWorker();
    await until('it is ready', async () => (await frozen.readiness())?.status === 200);
    const other = await stream.startWorker();
    const feeding = stream.feedSlowly(records, { batch: 32, everyMs: 150 });
    for (let freeze = 0; freeze < FREEZES; freeze++) {
      await until('both work', async () => {
        const owned = await Promise.all(
          [frozen, other].map((worker) => worker.metric('tidewatch_partitions_assigned')),
        );
        return owned.join() === '2,2' && (await frozen.readiness())?.status === 200;
      });
      frozen.freeze();
      await until('the other has everything', async () => {
        return (
          (await other.metric('tidewatch_partitions_assigned')) === PARTITIONS &&
          (await other.readiness())?.status === 200
        );
      });
      t.diagnostic(`thawed after ${(await stream.scores()).length} scores`);
      frozen.thaw();
    }
    await feeding;
    await stream.settled();
    assertScoredOnce(await stream.scores(), records);
    // Two partitions at first, and two with each freeze. None was taken away but by an assignment.
    assert.equal(await other.metric('tidewatch_restore_seconds_count'), 2 + 2 * FREEZES);
    assert.equal(await other.metric('tidewatch_partition_retries_total'), 0);
    for (const worker of [frozen, other]) assert.deepEqual(await worker.stop(), { code: 0, signal: null });
  },
);
