import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { tailTopic } from '../../../src/kafka/fetch/topic-tail.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { deliveredFrom, placed } from '../../fixture/stream/listener.ts';
import { TOPICS } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';
import { startBrokerCluster } from './broker-cluster.ts';

/** One partition that the first two brokers hold. Either of them may lead it alone, with what it has. */
async function makeTopics(connection: KafkaConnection): Promise<void> {
  const configEntries = [
    { name: 'min.insync.replicas', value: '1' },
    { name: 'unclean.leader.election.enable', value: 'true' },
  ];
  const replicaAssignment = [{ partition: 0, replicas: [1, 2] }];
  const topics = [{ topic: TOPICS.observations, replicaAssignment, configEntries }];
  await asAdmin(connection, 'a topic was made', (admin) => admin.createTopics({ topics, waitForLeaders: true }));
  await ensureTopics(connection, TOPICS, { partitions: 1, replicationFactor: 3, retentionMs: null });
}

kafkaTest(
  'records that an unclean leader replaced are named, and the new ones at their offsets are read',
  async (t) => {
    const folder = freshFolder();
    const cluster = await startBrokerCluster(folder);
    t.after(() => cluster.close());
    const [first, second] = cluster.nodes;
    const append = async (values: readonly string[]) => {
      const records = values.map((value) => ({ partition: 0, key: null, value: Buffer.from(value) }));
      await until('it is written', () =>
        produceRecords(cluster.direct, TOPICS.observations, records).then(
          () => true,
          () => false,
        ),
      );
    };
    await makeTopics(cluster.direct);
    await append(['a', 'b']);
    await second.kill();
    // Only the first broker has these.
    await append(['lost-1', 'lost-2', 'lost-3']);
    const log = createKafkaLog({ ...cluster.direct, topics: TOPICS, groupId: 'group', sessionMs: 6_000 });
    t.after(() => log.close());
    const session = await log.openPartition(0);
    const delivered = await deliveredFrom(log, 0);
    await until('all are read', () => delivered.length === 5);
    const tailed: string[] = [];
    const appended = Promise.withResolvers<void>();
    const tail = await tailTopic(
      cluster.direct,
      { topic: TOPICS.observations, from: 'earliest' },
      {
        // It does not look while the log ends before its position: then only the epochs tell the difference.
        onRecords: async (records) => {
          tailed.push(...records.map(({ value }) => String(value)));
          if (tailed.length === 5) await appended.promise;
        },
      },
    );
    t.after(async () => {
      appended.resolve();
      await tail.stop();
    });
    await until('a tail has read all', () => tailed.length === 5);
    await session.commit([], 5);
    await first.kill();
    await second.restart();
    // As many as were lost, and more: an offset alone does not tell the difference.
    await append(['new-1', 'new-2', 'new-3', 'new-4', 'new-5']);
    await until('the newest is read', () => delivered.at(-1)?.value?.toString() === 'new-5');
    const after = ['2:new-1', '3:new-2', '4:new-3', '5:new-4', '6:new-5'];
    const truncated = { first: 2, last: 4, reason: 'records-truncated' };
    assert.deepEqual(delivered.slice(5).map(placed), [truncated, ...after]);
    appended.resolve();
    await until('the tail has read the newest', () => tailed.at(-1) === 'new-5');
    assert.deepEqual(tailed.slice(5), ['new-1', 'new-2', 'new-3', 'new-4', 'new-5']);
    await log.close();

    // Nobody read meanwhile: the committed offset knows its epoch.
    const later = createKafkaLog({ ...cluster.direct, topics: TOPICS, groupId: 'group', sessionMs: 6_000 });
    t.after(() => later.close());
    const { committedOffset } = await later.openPartition(0);
    assert.equal(committedOffset, 5);
    const again = await deliveredFrom(later, 5);
    await until('the newest is read', () => again.at(-1)?.value?.toString() === 'new-5');
    assert.deepEqual(again.map(placed), [truncated, ...after]);
  },
);
