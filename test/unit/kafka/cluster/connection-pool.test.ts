import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SharedConnections } from '../../../../src/kafka/cluster/connection-pool.ts';
import type { ConnectionPair, ProtocolRequest } from '../../../../src/kafka/protocol/broker-connection.ts';

const FETCH = 1;
const API_VERSIONS = 18;
const END_TXN = 26;

interface Sent {
  /** Which connection it went over. */
  readonly connection: number;
  answer(): void;
  fail(error: Error): void;
}

/** The connections to a broker that answers when the test says so. */
async function pool({ sasl }: { readonly sasl?: object } = {}) {
  const sent: Sent[] = [];
  const first: (number | undefined)[] = [];
  const closed: number[] = [];
  let made = 0;
  const open = async () => {
    const connection = made++;
    let isOpen = true;
    const destroy = () => {
      isOpen = false;
      closed.push(connection);
    };
    const send = ({ request: { apiKey } }: ProtocolRequest<void>) => {
      first[connection] ??= apiKey;
      if (apiKey === API_VERSIONS) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      sent.push({ connection, answer: resolve, fail: reject });
      return promise;
    };
    return { socket: { destroy }, isConnected: () => isOpen, setVersions: () => undefined, send };
  };
  const makePair = () => ({ host: 'broker', port: 9092, sasl, getConnection: open }) as unknown as ConnectionPair;
  return { connections: new SharedConnections(makePair), sent, closed, first };
}

const request = (apiKey: number) => ({ request: { apiKey } }) as unknown as ProtocolRequest<void>;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const over = (sent: readonly Sent[]) => new Set(sent.map(({ connection }) => connection)).size;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

test('requests at the same time have a connection each; beyond eight they wait, in their order', async (t) => {
  // No request is slow, however slow the machine is.
  t.mock.method(performance, 'now', () => 1);
  const { connections, sent } = await pool();
  const done: number[] = [];
  const all = Array.from({ length: 20 }, (_, i) => connections.send(request(END_TXN)).then(() => done.push(i)));
  await until(() => sent.length >= 8);
  await settled();
  assert.deepEqual([sent.length, over(sent)], [8, 8]);
  for (let answered = 0; answered < 20; answered++) {
    await until(() => sent.length > answered);
    sent[answered].answer();
    await settled();
  }
  await Promise.all(all);
  const expected = [...done].sort((a, b) => a - b);
  assert.deepEqual(done, expected);
  assert.equal(over(sent), 8);
});

test('requests that slow partitions hold up do not hold up others', async () => {
  const { connections, sent } = await pool();
  const slow = Array.from({ length: 8 }, () => connections.send(request(END_TXN)));
  await until(() => sent.length === 8);
  const others = Array.from({ length: 3 }, () => connections.send(request(END_TXN)));
  await until(() => sent.length === 11);
  for (const one of sent.slice(8)) one.answer();
  await Promise.all(others);
  for (const one of sent.slice(0, 8)) one.answer();
  await Promise.all(slow);
});

test('fetches do not hold up other requests', async () => {
  const { connections, sent } = await pool();
  for (let i = 0; i < 100; i++) void connections.send(request(FETCH));
  await until(() => sent.length === 4);
  const other = connections.send(request(END_TXN));
  await until(() => sent.length === 5);
  sent[4].answer();
  await other;
});

test('a connection whose request timed out is not used again: its broker is stuck', async () => {
  const { connections, sent, closed } = await pool();
  const timedOut = connections.send(request(END_TXN));
  await until(() => sent.length === 1);
  sent[0].fail(Object.assign(new Error('timed out'), { name: 'KafkaJSRequestTimeoutError' }));
  await assert.rejects(timedOut, /timed out/);
  const next = connections.send(request(END_TXN));
  await until(() => sent.length === 2);
  sent[1].answer();
  await next;
  assert.deepEqual([closed, sent[1].connection === sent[0].connection], [[sent[0].connection], false]);
});

test('a broker that left the cluster rejects the requests that wait for a connection', async () => {
  const { connections, sent } = await pool();
  for (let i = 0; i < 8; i++) void connections.send(request(END_TXN));
  await until(() => sent.length === 8);
  const waiting = connections.send(request(END_TXN));
  await connections.destroy();
  await assert.rejects(waiting, { name: 'KafkaJSConnectionError' });
});

test('a broker is not ready before its versions are known: requests to it would fail', async () => {
  const { connections } = await pool();
  await connections.getConnection();
  assert.equal(connections.isConnected(), false);
  connections.setVersions({});
  assert.equal(connections.isConnected(), true);
});

test('the first request over a connection is one that is answered at once; a login is one', async () => {
  for (const [options, expected] of [
    [{}, API_VERSIONS],
    [{ sasl: {} }, END_TXN],
  ] as const) {
    const { connections, sent, first } = await pool(options);
    void connections.send(request(END_TXN));
    await until(() => sent.length === 1);
    assert.deepEqual(first, [expected]);
  }
});
