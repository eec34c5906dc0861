import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/stream/log/kafka/kafka-log.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../fixture/kafka/unreliable-sockets.ts';

const OFFSET_FETCH = 9;
const END_TXN = 26;
const UNSTABLE_OFFSET_COMMIT = 88;

/** The offset is unstable until EndTxn is sent, as if a broker had lost the markers. Notes whether that commits. */
function lostMarkers(ends: boolean[]): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket);
    const emit = socket.emit.bind(socket);
    const fetches = new Set<number>();
    socket.write = (request: Uint8Array | string, ...rest: unknown[]) => {
      if (Buffer.isBuffer(request)) {
        const apiKey = request.readInt16BE(4);
        if (apiKey === OFFSET_FETCH) fetches.add(request.readInt32BE(8));
        if (apiKey === END_TXN) ends.push(request.at(-1) === 1);
      }
      return write(request, ...(rest as []));
    };
    socket.emit = (event: string | symbol, ...values: unknown[]) => {
      const data = values[0];
      if (event === 'data' && Buffer.isBuffer(data) && fetches.has(data.readInt32BE(4)) && ends.length === 0) {
        // The error code of the response is before its tagged fields.
        data.writeInt16BE(UNSTABLE_OFFSET_COMMIT, data.length - 3);
      }
      return emit(event, ...values);
    };
    return socket;
  };
}

for (const [decided, committed] of [
  ['an abort', false],
  ['a commit', true],
] as const) {
  kafkaTest(`settleOffset completes ${decided} whose markers were lost as it was decided`, async (t) => {
    const connection = await kafkaConnection();
    const topics = await freshTopics(1);
    const options = { ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
    const { promise: isOpen, resolve: onEnd } = Promise.withResolvers<void>();
    // The transaction stays open: its end is never sent.
    const socketFactory = unreliableSockets((apiKey) => {
      if (apiKey !== END_TXN) return 'sent';
      onEnd();
      return 'lost';
    });
    const earlierLog = createKafkaLog(committed ? options : { ...options, socketFactory });
    t.after(() => earlierLog.close());
    const earlier = await earlierLog.openPartition(0);
    const commit = earlier.commit([{ topic: topics.scores, partition: 0, key: null, value: Buffer.from('1') }], 5);
    // The requests of a transaction are retried. They end with the session.
    if (committed) await commit;
    else {
      commit.catch(() => undefined);
      await isOpen;
      await earlier.close();
    }
    const ends: boolean[] = [];
    const log = createKafkaLog({ ...options, socketFactory: lostMarkers(ends) });
    t.after(() => log.close());
    const session = await log.openPartition(0);
    assert.deepEqual(ends, [committed]);
    assert.equal(session.committedOffset, committed ? 5 : null);
    assert.equal((await committedRecords(topics.scores, 0)).length, committed ? 1 : 0);
    await session.commit([{ topic: topics.scores, partition: 0, key: null, value: Buffer.from('2') }], 6);
    assert.equal((await committedRecords(topics.scores, 0)).length, committed ? 2 : 1);
  });
}
