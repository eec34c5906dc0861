import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeMembers } from '../../fixture/kafka/group-progress.ts';
import { kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { assertScoredOnce, QUICK_DETECTOR, waves } from '../../fixture/stream/scored-stream.ts';
import { until } from '../../fixture/until.ts';

const PARTITIONS = 4;
const FREEZES = 3;
/** The owner that stands still for less keeps its partitions, also on a busy machine. */
const SESSION_MS = 30_000;
const STANDSTILL_MS = 1_500;
const records = waves(16, 90, PARTITIONS);
const share = records.length / FREEZES;

kafkaTest('a worker that was frozen until others took over scores nothing twice and fences no owner', async (t) => {
  const stream = await kafkaStream(PARTITIONS, [QUICK_DETECTOR]);
  const env = { KAFKA_SESSION_MS: String(SESSION_MS) };
  const clientId = `frozen-${stream.groupId}`;
  const frozen = await stream.startWorker({ ...env, KAFKA_CLIENT_ID: clientId });
  await until('it is ready', async () => (await frozen.readiness())?.status === 200);
  const other = await stream.startWorker(env);
  for (let freeze = 0; freeze < FREEZES; freeze++) {
    await until('both work', async () => {
      const owned = await Promise.all([frozen, other].map((worker) => worker.metric('tidewatch_partitions_assigned')));
      return owned.join() === '2,2' && (await frozen.readiness())?.status === 200;
    });
    const own = records.slice(freeze * share, (freeze + 1) * share);
    const feeding = stream.feedSlowly(own.slice(0, share / 2), { batch: 16, everyMs: 150 });
    await until('it scores', async () => (await stream.scores()).length > freeze * share);
    frozen.freeze();
    await removeMembers(await kafkaConnection(), { groupIds: [stream.groupId], clientId });
    await until('the other has everything', async () => {
      return (
        (await other.metric('tidewatch_partitions_assigned')) === PARTITIONS &&
        (await other.readiness())?.status === 200
      );
    });
    await feeding;
    t.diagnostic(`thawed after ${(await stream.scores()).length} scores`);
    // The group waits for the owner: meanwhile the other one has records, and no new assignment.
    other.freeze();
    await stream.feed(own.slice(share / 2));
    frozen.thaw();
    await sleep(STANDSTILL_MS);
    other.thaw();
  }
  await stream.settled();
  assertScoredOnce(await stream.scores(), records);
  // Two partitions at first, and two with each freeze. None was taken away but by an assignment.
  await other.counts('tidewatch_restore_seconds_count', 2 + 2 * FREEZES);
  assert.equal(await other.metric('tidewatch_partition_retries_total'), 0);
  for (const worker of [frozen, other]) assert.deepEqual(await worker.stop(), { code: 0, signal: null });
});
