import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { ensureTopics } from '../../../src/engine/topics/topic-admin.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { linkCluster } from '../../../src/kafka/cluster/connection.ts';
import { GROUP_COORDINATOR } from '../../../src/kafka/cluster/coordinator.ts';
import { leaveGroup } from '../../../src/kafka/membership/group-requests.ts';
import { freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { listen } from '../../fixture/stream/listener.ts';
import { until } from '../../fixture/until.ts';

const broker = ownKafka();

/** As the coordinator does with a member that was frozen. */
async function removeMembers(groupId: string): Promise<void> {
  const connection = await kafkaConnection();
  const { groups } = await asAdmin(connection, 'members were listed', (admin) => admin.describeGroups([groupId]));
  const { cluster, destroy } = await linkCluster(connection, []);
  const coordinator = await cluster.findGroupCoordinator({ groupId, coordinatorType: GROUP_COORDINATOR });
  for (const { memberId } of groups[0].members) await leaveGroup(coordinator, { groupId, memberId, instanceId: null });
  destroy();
}

kafkaTest('a member that its group has removed owns nothing until it has joined again', async (t) => {
  const topics = await freshTopics(2);
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...(await kafkaConnection()), topics, groupId, sessionMs: 3_000 });
  t.after(() => log.close());
  const { assignments, connections } = await listen(log);
  await until('it is assigned', () => assignments.length === 1);
  await removeMembers(groupId);
  await until('it is assigned again', () => assignments.length > 1 && assignments.at(-1)?.length === 2);
  assert.deepEqual(assignments, [[0, 1], [], [0, 1]]);
  assert.ok(
    connections.every((error) => error === null),
    'the connection was never lost',
  );
});

kafkaTest('a member that comes back while the topic is missing joins again once the topic is made anew', async (t) => {
  const connection = await kafkaConnection();
  const kafka = await broker();
  const topics = await freshTopics(2);
  const groupId = `group-${topics.observations}`;
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs: 3_000 });
  t.after(() => log.close());
  const { assignments, connections } = await listen(log);
  await until('it is assigned', () => assignments.at(-1)?.length === 2);
  await asAdmin(connection, 'the topic was deleted', (admin) => admin.deleteTopics({ topics: [topics.observations] }));
  await kafka.kill();
  await kafka.restart();
  // It connects meanwhile, several times, and the topic is not there.
  await sleep(3_000);
  await ensureTopics(connection, topics, { partitions: 2, replicationFactor: 1, retentionMs: null });
  const members = async () => {
    const { groups } = await asAdmin(connection, 'members were listed', (admin) => admin.describeGroups([groupId]));
    return groups[0].members.length;
  };
  await until('the group has a member', async () => (await members()) === 1);
  await until('it is in reach', () => connections.at(-1) === null && assignments.at(-1)?.length === 2);
});
