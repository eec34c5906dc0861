import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ISocketFactory } from 'kafkajs';
import type { StreamLog } from '../../../../src/engine/log/log.ts';
import { readConsumerGroup } from '../../../../src/kafka/admin/consumer-group.ts';
import { type ClusterLink, linkCluster } from '../../../../src/kafka/cluster/connection.ts';
import {
  type AlterResponse,
  alteredResponses,
  FETCH,
  inFirstProtocol,
  METADATA,
  withFetchError,
  withoutLeader,
} from '../../../fixture/kafka/altered-responses.ts';
import { removeMembers } from '../../../fixture/kafka/group-progress.ts';
import {
  append,
  committedRecords,
  freshLog,
  freshTopics,
  kafkaConnection,
  kafkaTest,
  output,
} from '../../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../../fixture/kafka/unreliable-sockets.ts';
import { type Listener, listen } from '../../../fixture/stream/listener.ts';
import { until } from '../../../fixture/until.ts';

const REQUESTS = 8;

async function linked(t: TestContext, socketFactory: ISocketFactory) {
  const { observations: topic } = await freshTopics(1);
  const link: ClusterLink = await linkCluster({ ...(await kafkaConnection()), socketFactory }, [topic]);
  t.after(() => link.destroy());
  return { link, topic, broker: await link.cluster.findBroker({ nodeId: 1 }) };
}

kafkaTest('requests that come together after a lost connection share a new one', async (t) => {
  const sockets = new Set<Socket>();
  const { link, topic, broker } = await linked(t, ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  });
  link.dropBroker(broker);
  await until('the loss is noticed', () => sockets.size === 0);
  await Promise.all(Array.from({ length: REQUESTS }, () => broker.metadata([topic])));
  assert.equal(sockets.size, 1);
});

kafkaTest('a connection that was lost in the middle of a response reads the next one from its beginning', async (t) => {
  let cuts = false;
  const { broker, topic } = await linked(t, ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const emit = socket.emit.bind(socket);
    socket.emit = (event: string | symbol, ...values: unknown[]) => {
      if (event !== 'data' || !cuts) return emit(event, ...values);
      cuts = false;
      emit('data', (values[0] as Buffer).subarray(0, 7));
      socket.destroy(new Error('The connection was lost'));
      return true;
    };
    return socket;
  });
  const metadata = await broker.metadata([topic]);
  cuts = true;
  await assert.rejects(broker.metadata([topic]));
  assert.deepEqual(await broker.metadata([topic]), metadata);
});

kafkaTest('a member that its group has removed owns nothing until it has joined again', async (t) => {
  const { connection, groupId, log } = await freshLog(t, { partitions: 2, sessionMs: 30_000 });
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

const STORAGE_ERROR = 56;

/** A log on new topics with two partitions. `alter` may change what brokers answer. */
const alteredLog = (t: TestContext, alter: AlterResponse) =>
  freshLog(t, { partitions: 2, socketFactory: alteredResponses(alter) });

async function follow(log: StreamLog): Promise<Listener> {
  const listener = await listen(log);
  await until('both partitions are assigned', () => listener.assignments.at(-1)?.length === 2);
  for (const partition of [0, 1]) listener.subscription.start(partition, 0);
  return listener;
}

kafkaTest('a dead-letters topic without a leader stalls nothing that needs no dead letter', async (t) => {
  let leaderless = '';
  const { log, topics } = await alteredLog(t, ({ apiKey, body }) => {
    if (apiKey === METADATA) withoutLeader(body, leaderless, 0);
  });
  leaderless = topics.deadLetters;
  await append(topics.observations, ['a']);
  await append(topics.observations, ['b'], 1);
  const { values, stalled } = await follow(log);
  await until('both partitions are read', () => `${values(0)},${values(1)}` === 'a,b');
  const session = await log.openPartition(0);
  for (let offset = 1; offset <= 20; offset++) await session.commit([output(topics.scores, String(offset))], offset);
  assert.equal(stalled.size, 0);
  assert.equal((await committedRecords(topics.scores, 0)).length, 20);
  const refused = session.commit([output(topics.scores, 'no'), output(topics.deadLetters, 'letter')], 21);
  await assert.rejects(refused, { code: 'broker-unavailable' });
});

for (const [fault, alterFor] of [
  [
    'without a leader',
    (topic: string): AlterResponse =>
      ({ apiKey, body }) => {
        if (apiKey === METADATA) withoutLeader(body, topic, 1);
      },
  ],
  [
    'whose broker answers with an error',
    (): AlterResponse =>
      ({ apiKey, body }) => {
        if (apiKey === FETCH) withFetchError(body, 1, STORAGE_ERROR);
      },
  ],
] as const) {
  kafkaTest(`an input partition ${fault} is named, and its neighbour is read as before`, async (t) => {
    let alter: AlterResponse = () => undefined;
    const { log, topics } = await alteredLog(t, (response) => alter(response));
    alter = alterFor(topics.observations);
    const { values, stalled, connections } = await follow(log);
    await append(topics.observations, ['b'], 1);
    await until('partition 1 is named', () => stalled.has(1));
    for (let i = 0; i < 50; i++) {
      await append(topics.observations, [String(i)]);
      await until('the neighbour is read', () => values(0).length === i + 1, { everyMs: 5 });
    }
    assert.deepEqual(values(1), []);
    assert.ok(connections.every((error) => error === null));
    alter = () => undefined;
    await until('it recovers', () => stalled.size === 0 && String(values(1)) === 'b');
  });
}

const PRODUCE = 0;
const END_TXN = 26;
const TXN_OFFSET_COMMIT = 28;
/** Well before the time-out of a request. */
const END_MS_MAX = 10_000;

kafkaTest('a session that is closed ends its requests in flight, and not those of others', async (t) => {
  let held: (() => void)[] | null = null;
  const socketFactory = unreliableSockets((apiKey) => {
    if (held === null || apiKey !== END_TXN) return 'sent';
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(resolve);
    return promise;
  });
  const { log } = await freshLog(t, { partitions: 2, socketFactory });
  const [closed, other] = [await log.openPartition(0), await log.openPartition(1)];
  held = [];
  const commits = [closed, other].map((session) => session.commit([], 1));
  const ended = commits[0].catch((error: { code: string }) => error.code);
  await until('both wait', () => held?.length === 2);
  await closed.close();
  assert.equal(await Promise.race([ended, sleep(END_MS_MAX, 'still there', { ref: false })]), 'broker-unavailable');
  for (const send of held) send();
  await commits[1];
  assert.equal((await log.openPartition(1)).committedOffset, 1);
});

/** More than brokers accept by default. */
const METADATA_BYTES = 5_000;

kafkaTest('metadata that are too long for the broker are left out of the commit', async (t) => {
  const { connection, topics, groupId, log } = await freshLog(t);
  const session = await log.openPartition(0);
  const written = async () => {
    const { partitions } = await readConsumerGroup(connection, { groupId, topic: topics.observations });
    return partitions.map(({ nextOffset, metadata }) => [nextOffset, metadata]);
  };
  // The offset is there once the marker of the transaction is written, which may be after the answer to its commit.
  const untilWritten = (offset: number) => until('it is written', async () => (await written())[0]?.[0] === offset);
  await session.commit([], 1, 'short');
  await untilWritten(1);
  assert.deepEqual(await written(), [[1, 'short']]);
  await session.commit([], 2, 'x'.repeat(METADATA_BYTES));
  await untilWritten(2);
  assert.deepEqual(await written(), [[2, null]]);
});

/** Longer than the coordinator takes to add the offsets. */
const PRODUCE_MS = 500;

kafkaTest('a broker never checks records and offset of one transaction at once', async (t) => {
  const sent: number[] = [];
  const socketFactory = unreliableSockets((apiKey) => {
    if (apiKey === TXN_OFFSET_COMMIT) sent.push(apiKey);
    return apiKey === PRODUCE ? sleep(PRODUCE_MS).then(() => void sent.push(apiKey)) : 'sent';
  });
  const { topics, log } = await freshLog(t, { socketFactory });
  const session = await log.openPartition(0);
  await session.commit([output(topics.scores, '{}')], 1);
  assert.deepEqual(sent, [PRODUCE, TXN_OFFSET_COMMIT]);
});

const NOT_COORDINATOR = 16;
const COMMITS = 3;

/** The requests of a session, by API key. */
const COORDINATED = {
  0: 'Produce',
  9: 'OffsetFetch',
  22: 'InitProducerId',
  24: 'AddPartitionsToTxn',
  25: 'AddOffsetsToTxn',
  26: 'EndTxn',
  28: 'TxnOffsetCommit',
} as const;
type ApiKey = keyof typeof COORDINATED;
const API_KEYS = Object.keys(COORDINATED).map((key) => Number(key) as ApiKey);
/** The second protocol of transactions has none of them. */
const FIRST_ONLY: readonly ApiKey[] = [24, 25];
const PROTOCOLS = [
  { named: 'V1', sent: API_KEYS, sockets: inFirstProtocol },
  {
    named: 'V2',
    sent: API_KEYS.filter((key) => !FIRST_ONLY.includes(key)),
    sockets: (open: ISocketFactory) => open,
  },
];

/** Opens a session, which must live for all commits, each of which must be visible once. */
async function commitAll(t: TestContext, socketFactory: ISocketFactory): Promise<void> {
  const { topics, log } = await freshLog(t, { socketFactory });
  const session = await log.openPartition(0);
  for (let offset = 1; offset <= COMMITS; offset++) {
    await session.commit([output(topics.scores, offset)], offset);
  }
  const visible = await committedRecords(topics.scores, 0);
  const actual = visible.map(({ value }) => Number(value));
  const expected = Array.from({ length: COMMITS }, (_, i) => i + 1);
  assert.deepEqual(actual, expected);
  assert.equal((await log.openPartition(0)).committedOffset, COMMITS);
}

/**
 * Where the error code stands in a response, before tagged fields of which there are none. Those for several partitions
 * name one partition of one topic here.
 */
function errorAt(apiKey: ApiKey, body: Buffer): number {
  if (apiKey === 9) return body.length - 3;
  if (apiKey === 24 || apiKey === 28) return body.length - 5;
  return 5;
}

for (const { named, sent, sockets } of PROTOCOLS) {
  for (const apiKey of sent.filter((key) => key !== 0)) {
    kafkaTest(`${named}: a coordinator that moved at a request ${COORDINATED[apiKey]} costs no session`, async (t) => {
      let moved = false;
      const factory = alteredResponses((response) => {
        const at = errorAt(apiKey, response.body);
        if (moved || response.apiKey !== apiKey || response.body.readInt16BE(at) !== 0) return;
        moved = true;
        response.body.writeInt16BE(NOT_COORDINATOR, at);
      });
      await commitAll(t, sockets(factory));
      assert.ok(moved);
    });
  }

  for (const apiKey of sent) {
    for (const [when, fate] of [
      ['before', 'lost'],
      ['after', 'answer-lost'],
    ] as const) {
      kafkaTest(`${named}: a connection lost ${when} a request ${COORDINATED[apiKey]} costs no session`, async (t) => {
        let lost = false;
        const factory = unreliableSockets((key) => {
          if (lost || key !== apiKey) return 'sent';
          lost = true;
          return fate;
        });
        await commitAll(t, sockets(factory));
        assert.ok(lost);
      });
    }
  }
}
