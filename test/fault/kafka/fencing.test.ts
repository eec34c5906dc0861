import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/stream/log/kafka/kafka-log.ts';
import type { StreamLog } from '../../../src/stream/log/log.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';

const initProducerId = 22;
const offsetFetch = 9;

/** Does something else first, once, before it sends the first request of a kind. */
function interrupted(apiKey: number, first: () => Promise<void>): ISocketFactory {
  let done = false;
  return ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket);
    socket.write = (request: Uint8Array | string, ...rest: unknown[]) => {
      const due = !done && Buffer.isBuffer(request) && request.readInt16BE(4) === apiKey;
      if (!due) return write(request, ...(rest as []));
      done = true;
      void first().then(() => write(request, ...(rest as [])));
      return true;
    };
    return socket;
  };
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
  const tooLate = async () => {
    await assert.rejects(earlier.commit([], 7), (error) => (error as { code?: string }).code === 'fenced');
  };
  const laterLog = open(interrupted(offsetFetch, tooLate));
  assert.equal((await laterLog.openPartition(0)).committedOffset, 3);
});
