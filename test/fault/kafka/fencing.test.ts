import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import type { StreamLog } from '../../../src/engine/log/log.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../fixture/kafka/unreliable-sockets.ts';

const initProducerId = 22;
const offsetFetch = 9;

/** Does something else first, once, before it sends the first request of a kind. */
function interrupted(interruptedKey: number, first: () => Promise<void>): ISocketFactory {
  let done = false;
  return unreliableSockets((apiKey) => {
    if (done || apiKey !== interruptedKey) return 'sent';
    done = true;
    return first();
  });
}

/** A log, and a way to open others of the same group; all are closed after the test. */
async function owners(t: TestContext): Promise<{ log: StreamLog; open(factory: ISocketFactory): StreamLog }> {
  const connection = await kafkaConnection();
  const topics = await freshTopics(1);
  const options = { ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
  const tracked = (log: StreamLog) => {
    t.after(() => log.close());
    return log;
  };
  return {
    log: tracked(createKafkaLog(options)),
    open: (socketFactory) => tracked(createKafkaLog({ ...options, socketFactory })),
  };
}

kafkaTest('the later owner sees what an earlier owner committed just before it was fenced', async (t) => {
  const { log, open } = await owners(t);
  const earlier = await log.openPartition(0);
  const laterLog = open(interrupted(initProducerId, () => earlier.commit([], 7)));
  assert.equal((await laterLog.openPartition(0)).committedOffset, 7);
});

kafkaTest('an earlier owner cannot move the offset that the later owner is about to read', async (t) => {
  const { log, open } = await owners(t);
  const earlier = await log.openPartition(0);
  await earlier.commit([], 3);
  let refused = false;
  const tooLate = async () => {
    await assert.rejects(earlier.commit([], 7), (error) => (error as { code?: string }).code === 'fenced');
    refused = true;
  };
  const laterLog = open(interrupted(offsetFetch, tooLate));
  assert.equal((await laterLog.openPartition(0)).committedOffset, 3);
  assert.ok(refused);
});
