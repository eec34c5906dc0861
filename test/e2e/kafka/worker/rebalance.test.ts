import assert from 'node:assert/strict';
import { kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../../fixture/kafka/kafka-stream.ts';
import type { WorkerProcess } from '../../../fixture/kafka/worker-process.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../../fixture/stream/scored-stream.ts';
import { until } from '../../../fixture/until.ts';

const PARTITIONS = 8;
const records = waves(24, 110, PARTITIONS);

kafkaTest(
  'workers that share partitions score each observation once while others join, leave and are killed',
  async (t) => {
    const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
    const share = (workers: readonly WorkerProcess[], ...partitions: number[]) =>
      until(`the workers own ${partitions} partitions`, async () => {
        const owned = await Promise.all(workers.map((worker) => worker.metric('tidewatch_partitions_assigned')));
        const ready = await Promise.all(workers.map((worker) => worker.readiness()));
        return owned.join() === partitions.join() && ready.every((readiness) => readiness?.status === 200);
      });

    const stays = await stream.startWorker();
    await share([stays], 8);
    const feeding = stream.feedSlowly(records, { batch: 48, everyMs: 150 });
    const leaves = await stream.startWorker();
    await share([stays, leaves], 4, 4);
    assert.deepEqual(await leaves.stop(), { code: 0, signal: null });
    await share([stays], 8);
    const killed = await stream.startWorker();
    await share([stays, killed], 4, 4);
    await killed.kill();
    t.diagnostic(`${(await stream.scores()).length} of ${records.length} scored when the last one died`);
    await feeding;
    await share([stays], 8);
    await stream.settled();
    assertScoredOnce(await stream.scores(), records);
    // All at first, then what each of the others left. What it kept was never restored.
    await stays.counts('tidewatch_restore_seconds_count', PARTITIONS + 4 + 4);
    assert.deepEqual(await stays.stop(), { code: 0, signal: null });
  },
);
