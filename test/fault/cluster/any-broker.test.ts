import assert from 'node:assert/strict';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { detectorsFile } from '../../fixture/kafka/kafka-stream.ts';
import { startWorkerProcess } from '../../fixture/kafka/worker-process.ts';
import { QUICK_DETECTOR } from '../../fixture/stream/scored-stream.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { startBrokerCluster } from './broker-cluster.ts';
import { startFeeder } from './feeder.ts';
import { canBeWritten, isPreferredLeader } from './leaders.ts';

const PARTITIONS = 6;
/**
 * On a slow machine a follower falls behind, and a cluster that refuses every write for half a minute costs sessions.
 * A coordinator says of too few replicas of the committed offsets that it is not available.
 */
const WRITES_REFUSED = ['fewer in-sync replicas', 'The group coordinator is not available'];

kafkaTest('neither the kill of any broker of three nor a frozen one costs a session', async (t) => {
  const folder = freshFolder();
  const cluster = await startBrokerCluster(folder);
  const closing: (() => Promise<unknown>)[] = [cluster.close];
  t.after(async () => {
    for (const close of closing.reverse()) await close();
  });
  const names = Object.values(TOPICS);
  await ensureTopics(cluster.direct, TOPICS, { partitions: PARTITIONS, replicationFactor: 3, retentionMs: null });
  const worker = await startWorkerProcess({
    detectors: detectorsFile(TOPICS, [QUICK_DETECTOR]),
    env: { ...cluster.workerEnv, KAFKA_GROUP_ID: 'group', LOG_LEVEL: 'debug' },
  });
  closing.push(() => worker.kill());
  const feed = { topic: TOPICS.observations, partitions: PARTITIONS, series: 12, perSecond: 60 };
  const feeder = startFeeder(cluster.direct, feed);
  closing.push(() => feeder.stop());
  const scored = new Set<number>();
  const onRecords = (records: readonly { readonly partition: number }[]) => {
    for (const { partition } of records) scored.add(partition);
  };
  const tail = await tailTopic(cluster.direct, { topic: TOPICS.scores, from: 'latest' }, { onRecords });
  closing.push(() => tail.stop());
  const everyPartitionIsScored = (what: string) => {
    scored.clear();
    return until(`every partition is scored ${what}`, () => scored.size === PARTITIONS);
  };

  await everyPartitionIsScored('at first');
  for (const node of cluster.nodes) {
    await node.kill();
    await until('the others lead', () => canBeWritten(cluster, names, new Set([node.id])));
    await everyPartitionIsScored(`without broker ${node.id}`);
    await node.restart();
    await until('it is in sync', () => canBeWritten(cluster, names, new Set()));
  }
  const [frozen] = cluster.nodes;
  await until('the broker leads again', () => isPreferredLeader(cluster, TOPICS.observations, frozen.id));
  closing.push(() => frozen.thaw());
  let attempts = 0;
  const ends = await asAdmin(cluster.direct, 'ends were read', async (admin) => {
    await admin.fetchTopicOffsets(TOPICS.observations);
    if (++attempts === 1) await frozen.freeze();
    return admin.fetchTopicOffsets(TOPICS.observations);
  });
  assert.equal(ends.length, PARTITIONS);
  assert.ok(attempts > 1, 'an administrator asks the new leaders');
  await until('the others lead', () => canBeWritten(cluster, names, new Set([frozen.id])));
  await everyPartitionIsScored('without the frozen broker');
  const lines = worker.said().split('\n');
  const late = lines.filter((line) => line.includes('timed out') && !line.includes('tidewatch-detectors'));
  assert.deepEqual(late, [], 'no request waited for a broker that had been given up');
  await frozen.thaw();
  await everyPartitionIsScored('when it is thawed');
  const failures = worker.logged('the partition dropped its state and restores it').map(({ err }) => err);
  const lost = failures.filter((error) => !WRITES_REFUSED.some((refusal) => JSON.stringify(error).includes(refusal)));
  assert.deepEqual(lost, []);
  const restores = await worker.metric('tidewatch_restore_seconds_count');
  assert.equal(restores, PARTITIONS + failures.length, 'the first restores alone');
});
