import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { asAdmin } from '../../../src/kafka/admin/admin-client.ts';
import { linkCluster } from '../../../src/kafka/cluster/connection.ts';
import { GROUP_COORDINATOR } from '../../../src/kafka/cluster/coordinator.ts';
import { leaveGroup } from '../../../src/kafka/membership/group-requests.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { listen } from '../../fixture/stream/listener.ts';
import { until } from '../../fixture/until.ts';

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
