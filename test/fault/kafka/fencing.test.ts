import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/engine/log/kafka-log.ts';
import type { StreamLog } from '../../../src/engine/log/log.ts';
import { alteredResponses, inFirstProtocol } from '../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { type Fate, unreliableSockets } from '../../fixture/kafka/unreliable-sockets.ts';

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

const OFFSET_FETCH = 9;
const INIT_PRODUCER_ID = 22;
const END_TXN = 26;
const UNSTABLE_OFFSET_COMMIT = 88;

/**
 * The offset is unstable until EndTxn is sent, as if a broker had lost the markers. Notes whether that commits.
 * @param fence what becomes of the first fence
 */
function lostMarkers(ends: boolean[], fence: Fate): ISocketFactory {
  let fenced = false;
  const sockets = unreliableSockets((apiKey, request) => {
    // Before its tagged fields.
    if (apiKey === END_TXN) ends.push(request.at(-2) === 1);
    if (fenced || apiKey !== INIT_PRODUCER_ID) return 'sent';
    fenced = true;
    return fence;
  });
  return alteredResponses(({ apiKey, body }) => {
    // The error code of the response is before its tagged fields.
    if (apiKey === OFFSET_FETCH && ends.length === 0) body.writeInt16BE(UNSTABLE_OFFSET_COMMIT, body.length - 3);
  }, sockets);
}

const CASES = [
  ['an abort', false, 'sent'],
  ['an abort', false, 'answer-lost'],
  ['a commit', true, 'sent'],
  ['a commit', true, 'lost'],
  ['a commit', true, 'answer-lost'],
] as const;
const PROTOCOLS = [
  { named: 'V1', sockets: inFirstProtocol },
  { named: 'V2', sockets: (open?: ISocketFactory) => open },
];

for (const [{ named, sockets }, [decided, committed, fence]] of PROTOCOLS.flatMap((protocol) =>
  CASES.map((each) => [protocol, each] as const),
)) {
  kafkaTest(`${named}: settleOffset completes ${decided} whose markers were lost: fence ${fence}`, async (t) => {
    const connection = await kafkaConnection();
    const topics = await freshTopics(1);
    const options = { ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
    const { promise: isOpen, resolve: onEnd } = Promise.withResolvers<void>();
    // The transaction stays open: its end is never sent.
    const unending = unreliableSockets((apiKey) => {
      if (apiKey !== END_TXN) return 'sent';
      onEnd();
      return 'lost';
    });
    const socketFactory = sockets(committed ? undefined : unending);
    const earlierLog = createKafkaLog({ ...options, ...(socketFactory && { socketFactory }) });
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
    const losing = lostMarkers(ends, fence);
    const log = createKafkaLog({ ...options, socketFactory: sockets(losing) ?? losing });
    t.after(() => log.close());
    const session = await log.openPartition(0);
    assert.deepEqual(ends, [committed]);
    assert.equal(session.committedOffset, committed ? 5 : null);
    assert.equal((await committedRecords(topics.scores, 0)).length, committed ? 1 : 0);
    await session.commit([{ topic: topics.scores, partition: 0, key: null, value: Buffer.from('2') }], 6);
    assert.equal((await committedRecords(topics.scores, 0)).length, committed ? 2 : 1);
  });
}
