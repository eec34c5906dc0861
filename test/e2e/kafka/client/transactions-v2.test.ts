import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../../src/engine/log/kafka-log.ts';
import type { StreamLog } from '../../../../src/engine/log/log.ts';
import { linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import { fetchTransactionState } from '../../../../src/kafka/produce/transaction-state.ts';
import { fenceTransactionalProducer } from '../../../../src/kafka/produce/transactional-producer.ts';
import { array, i8, i16, i32, string, struct } from '../../../../src/kafka/protocol/protocol-fields.ts';
import { type Cluster, sendRequest } from '../../../../src/kafka/protocol/protocol-request.ts';
import { alteredResponses, inFirstProtocol } from '../../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest, ownKafka } from '../../../fixture/kafka/kafka.ts';
import { type Fate, unreliableSockets } from '../../../fixture/kafka/unreliable-sockets.ts';
import { until } from '../../../fixture/until.ts';

const broker = ownKafka();

const PRODUCE = 0;
const END_TXN = 26;
const TXN_OFFSET_COMMIT = 28;
/** The requests of a transaction. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [PRODUCE, 'Produce'],
  [24, 'AddPartitionsToTxn'],
  [25, 'AddOffsetsToTxn'],
  [TXN_OFFSET_COMMIT, 'TxnOffsetCommit'],
  [END_TXN, 'EndTxn'],
]);
const TRANSACTION_ABORTABLE = 120;

/** Opens logs of one group, which are closed after the test. */
async function group(t: TestContext) {
  const connection = await kafkaConnection();
  const topics = await freshTopics(1);
  const options = { ...connection, topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
  const open = (socketFactory?: ISocketFactory): StreamLog => {
    const log = createKafkaLog({ ...options, ...(socketFactory && { socketFactory }) });
    t.after(() => log.close());
    return log;
  };
  const output = (value: number) => [
    { topic: topics.scores, partition: 0, key: null, value: Buffer.from(String(value)) },
  ];
  const visible = async () => (await committedRecords(topics.scores, 0)).map(({ value }) => Number(value));
  return { topics, open, output, visible };
}

/** Notes the requests of transactions with their versions. */
function noting(sent: string[], fateOf: (apiKey: number) => Fate = () => 'sent'): ISocketFactory {
  return unreliableSockets((apiKey, request) => {
    const name = NAMES.get(apiKey);
    if (name !== undefined) sent.push(`${name} ${request.readInt16BE(6)}`);
    return fateOf(apiKey);
  });
}

kafkaTest('where the cluster has the second protocol, a transaction is three requests', async (t) => {
  const { open, output } = await group(t);
  const sent: string[] = [];
  const session = await open(noting(sent)).openPartition(0);
  // The first ones may be repeated, until the internal topics are made.
  await session.commit(output(1), 1);
  sent.length = 0;
  await session.commit(output(2), 2);
  assert.deepEqual([...new Set(sent)], ['Produce 12', 'TxnOffsetCommit 5', 'EndTxn 5']);
});

kafkaTest('where it has not, or hides it, a transaction is five requests in versions of the first', async (t) => {
  const { open, output } = await group(t);
  const sent: string[] = [];
  const session = await open(inFirstProtocol(noting(sent))).openPartition(0);
  await session.commit(output(1), 1);
  sent.length = 0;
  await session.commit(output(2), 2);
  const wanted = ['AddOffsetsToTxn 4', 'AddPartitionsToTxn 3', 'EndTxn 4', 'Produce 11', 'TxnOffsetCommit 4'];
  assert.deepEqual([...new Set(sent)].sort(), wanted);
});

for (const [first, second, sockets] of [
  ['V1', 'V2', inFirstProtocol()],
  ['V2', 'V1', undefined],
] as const) {
  kafkaTest(`an owner that commits in ${second} continues where one that committed in ${first} ended`, async (t) => {
    const { open, output, visible } = await group(t);
    const logs = [open(sockets), open(sockets === undefined ? inFirstProtocol() : undefined)];
    for (let turn = 0; turn < 4; turn++) {
      const session = await logs[turn % 2].openPartition(0);
      assert.equal(session.committedOffset ?? 0, 2 * turn);
      await session.commit(output(2 * turn), 2 * turn + 1);
      await session.commit(output(2 * turn + 1), 2 * turn + 2);
    }
    assert.deepEqual(await visible(), [0, 1, 2, 3, 4, 5, 6, 7]);
  });
}

for (const [apiKey, name] of [...NAMES].filter(([key]) => [PRODUCE, TXN_OFFSET_COMMIT, END_TXN].includes(key))) {
  kafkaTest(`a request ${name} that comes after its transaction was aborted is refused`, async (t) => {
    const { open, output, visible } = await group(t);
    const held = Promise.withResolvers<void>();
    let holds = false;
    let isHeld = false;
    const earlierLog = open(
      unreliableSockets((key) => {
        if (!holds || key !== apiKey) return 'sent';
        isHeld = true;
        return held.promise;
      }),
    );
    const earlier = await earlierLog.openPartition(0);
    await earlier.commit(output(1), 1);
    holds = true;
    const late = earlier.commit(output(2), 2).catch((error: { readonly code?: string }) => error.code);
    await until('the request waits', () => isHeld);
    const later = await open().openPartition(0);
    assert.equal(later.committedOffset, 1);
    held.resolve();
    assert.equal(await late, 'fenced');
    await later.commit(output(3), 2);
    assert.deepEqual(await visible(), [1, 3]);
  });

  kafkaTest(`a broker that restarts at a request ${name} loses nothing and writes nothing twice`, async (t) => {
    const { open, output, visible } = await group(t);
    const kafka = await broker();
    let restarting: Promise<void> | null = null;
    let armed = false;
    const restart = async () => {
      await kafka.kill();
      await kafka.restart();
    };
    const log = open(
      unreliableSockets((key) => {
        if (!armed || key !== apiKey || restarting !== null) return 'sent';
        restarting = restart();
        return restarting;
      }),
    );
    const session = await log.openPartition(0);
    await session.commit(output(1), 1);
    armed = true;
    // It may end with the session: what the broker has is known by the next one only.
    await session.commit(output(2), 2).catch(() => undefined);
    await restarting;
    const next = await log.openPartition(0);
    const committed = next.committedOffset ?? 0;
    for (let offset = committed; offset < 4; offset++) await next.commit(output(offset + 1), offset + 1);
    assert.deepEqual(await visible(), [1, 2, 3, 4]);
  });
}

kafkaTest('a transaction that a broker calls abortable is aborted, and its input is written once', async (t) => {
  const { topics, open, output, visible } = await group(t);
  let armed = false;
  const log = open(
    alteredResponses(({ apiKey, body }) => {
      if (!armed || apiKey !== PRODUCE) return;
      armed = false;
      // Number of partitions, and the index of the first, stand between the name of the topic and the error code.
      const errorAt = body.indexOf(topics.scores) + topics.scores.length + 1 + 4;
      assert.equal(body.readInt16BE(errorAt), 0);
      body.writeInt16BE(TRANSACTION_ABORTABLE, errorAt);
    }),
  );
  const session = await log.openPartition(0);
  await session.commit(output(1), 1);
  armed = true;
  const failure = { code: 'internal', retryable: true, message: /this transaction; it has to be aborted/ };
  await assert.rejects(session.commit(output(2), 2), failure);
  const next = await log.openPartition(0);
  assert.equal(next.committedOffset, 1);
  await next.commit(output(2), 2);
  assert.deepEqual(await visible(), [1, 2]);
});

const FEATURE = 'transaction.version';
const UPDATE_FEATURES = {
  name: 'UpdateFeatures',
  key: 57,
  versions: [1],
  compactSince: 0,
  request: {
    timeoutMs: i32,
    updates: array(struct({ name: string, level: i16, type: i8 })),
    validatesOnly: i8,
  },
  answer: { clientSideThrottleTime: i32, errorCode: i16, errorMessage: string },
};
const levelOf = (cluster: Cluster) => cluster.features.get(FEATURE) ?? 0;
const UPGRADE = 1;
const SAFE_DOWNGRADE = 2;

kafkaTest('a producer follows the protocol of the cluster, which changes while it runs', async (t) => {
  const { topics, visible, output } = await group(t);
  const sent: string[] = [];
  const connection = { ...(await kafkaConnection()), socketFactory: noting(sent) };
  const { cluster, destroy } = await linkCluster(connection, [topics.scores], { isShared: true });
  t.after(destroy);
  const setLevel = async (level: number) => {
    const type = level < levelOf(cluster) ? SAFE_DOWNGRADE : UPGRADE;
    const [broker] = Object.values(cluster.brokerPool.brokers);
    const updates = [{ name: FEATURE, level, type }];
    const answer = await sendRequest(broker, UPDATE_FEATURES, { timeoutMs: 5_000, updates, validatesOnly: 0 });
    assert.deepEqual([answer.errorCode, answer.errorMessage], [0, null]);
    await until('the client knows', async () => {
      await cluster.refreshMetadata();
      return levelOf(cluster) === level;
    });
  };
  const id = `switching-${topics.scores}`;
  /** A change of the feature while the markers are written can leave a transaction in completion for a minute. */
  const completed = () =>
    until('the transaction is complete', async () => {
      const [broker] = Object.values(cluster.brokerPool.brokers);
      return (await fetchTransactionState(broker, id))?.state === 'CompleteCommit';
    });
  const producer = await fenceTransactionalProducer(cluster, id);
  const place = { groupId: id, topic: topics.observations, partition: 0, leaderEpoch: -1, metadata: null };
  for (const [at, level] of [2, 1, 1, 2, 2, 0, 2].entries()) {
    if (level !== levelOf(cluster)) await setLevel(level);
    sent.length = 0;
    await producer.commit([...output(2 * at), ...output(2 * at + 1)], { ...place, offset: at + 1 });
    assert.ok(sent.includes(level === 2 ? 'EndTxn 5' : 'EndTxn 4'), `${level}: ${sent}`);
    await completed();
  }
  const expected = Array.from({ length: 14 }, (_, at) => at);
  assert.deepEqual(await visible(), expected);
});
