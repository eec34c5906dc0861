import assert from 'node:assert/strict';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import { removeMembers } from '../../fixture/kafka/group-progress.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { listen } from '../../fixture/stream/listener.ts';
import { until } from '../../fixture/until.ts';

kafkaTest('a member that its group has removed owns nothing until it has joined again', async (t) => {
  const topics = await freshTopics(2);
  const groupId = `group-${topics.observations}`;
  const connection = await kafkaConnection();
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs: 30_000 });
  t.after(() => log.close());
  const { assignments, connections } = await listen(log);
  await until('it is assigned', () => assignments.length === 1);
  await removeMembers(connection, { groupIds: [groupId] });
  await until('it is assigned again', () => assignments.length > 1 && assignments.at(-1)?.length === 2);
  assert.deepEqual(assignments, [[0, 1], [], [0, 1]]);
  assert.ok(
    connections.every((error) => error === null),
    'the connection was never lost',
  );
});
