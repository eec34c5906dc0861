import assert from 'node:assert/strict';
import { topicsInUse } from '../../../../src/engine/topics/changelog-name.ts';
import { freshLog, freshTopics, kafkaConnection, kafkaTest } from '../../../fixture/kafka/kafka.ts';
import { streamConfig } from '../../../fixture/stream/stream-run.ts';
import { until } from '../../../fixture/until.ts';

kafkaTest('a group that has scored keeps the changelog of the earlier name, a new group has its own', async (t) => {
  const { connection, topics: earlier, log } = await freshLog(t, { groupId: 'has-scored' });
  const topics = { ...earlier, changelog: `own-${earlier.changelog}` };
  const { input } = streamConfig([]);
  const stream = (groupId: string) => ({ input, topics, groupId, earlierChangelog: earlier.changelog });
  await (await log.openPartition(0)).commit([], 1);
  // The offset is there once the marker of the transaction is written, which may be after the answer to its commit.
  const isKept = async () => (await topicsInUse(connection, stream('has-scored'))).changelog === earlier.changelog;
  await until('the group has scored', isKept);
  assert.equal((await topicsInUse(connection, stream('is-new'))).changelog, topics.changelog);
});

kafkaTest('a changelog of the own name is used, and a name of the detectors file always', async () => {
  const connection = await kafkaConnection();
  const [topics, earlier] = [await freshTopics(1), await freshTopics(1)];
  const { input } = streamConfig([]);
  const own = { input, topics, groupId: 'any', earlierChangelog: earlier.changelog };
  assert.deepEqual(await topicsInUse(connection, own), topics);
  const named = { input, topics: { ...topics, changelog: 'missing' }, groupId: 'any', earlierChangelog: null };
  assert.equal((await topicsInUse(connection, named)).changelog, 'missing');
});
