import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coordinator, TRANSACTION_COORDINATOR } from '../../../../src/kafka/cluster/coordinator.ts';
import { errorFromCode } from '../../../../src/kafka/cluster/kafkajs.ts';
import type { Broker, Cluster } from '../../../../src/kafka/protocol/protocol-request.ts';

const COORDINATOR_LOADING = 14;
const COORDINATOR_NOT_AVAILABLE = 15;
const NOT_COORDINATOR = 16;
const CONCURRENT_TRANSACTIONS = 51;
const PRODUCER_FENCED = 90;

const lost = () => Object.assign(new Error('connect ECONNREFUSED'), { name: 'KafkaJSConnectionError' });

/** A cluster that names these nodes as coordinator one after the other, the last one for ever. */
function movingCoordinator(...nodes: readonly number[]) {
  let lookUps = 0;
  const cluster = {
    findBroker: async ({ nodeId }: { nodeId: number }) => ({ nodeId }),
    findGroupCoordinator: async () => ({ nodeId: nodes[Math.min(lookUps++, nodes.length - 1)] }),
  } as unknown as Cluster;
  return { cluster, lookUps: () => lookUps };
}

/** Requests that fail in this order, then succeed. Each is noted with the node it went to. */
function failingRequest(...errors: readonly Error[]) {
  const asked: number[] = [];
  const request = async ({ nodeId }: Broker) => {
    asked.push(nodeId);
    const error = errors[asked.length - 1];
    if (error !== undefined) throw error;
    return 'done';
  };
  return { request, asked };
}

for (const [what, error] of [
  ['does not coordinate any more', errorFromCode(NOT_COORDINATOR)],
  ['is not available', errorFromCode(COORDINATOR_NOT_AVAILABLE)],
  ['is loading', errorFromCode(COORDINATOR_LOADING)],
  ['is gone', lost()],
] as const) {
  test(`a request to a coordinator that ${what} is retried after a look-up`, async () => {
    const { cluster, lookUps } = movingCoordinator(1, 2);
    const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: 'app-0' });
    const { request, asked } = failingRequest(error);
    assert.equal(await coordinator.send(request), 'done');
    assert.deepEqual(asked, [1, 2]);
    assert.equal(lookUps(), 2);
  });
}

test('a coordinator is looked up once, and asked again while it completes the previous transaction', async () => {
  const { cluster, lookUps } = movingCoordinator(1, 2);
  const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: 'app-0' });
  const { request, asked } = failingRequest(errorFromCode(CONCURRENT_TRANSACTIONS));
  await coordinator.send(request);
  await coordinator.send(request);
  assert.deepEqual(asked, [1, 1, 1]);
  assert.equal(lookUps(), 1);
});

test('a transaction may take as long to complete as a frozen broker costs its markers', async (t) => {
  const { cluster } = movingCoordinator(1);
  const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: 'app-0' });
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const completedAtMs = 40_000;
  const request = async () => {
    nowMs += 10_000;
    if (nowMs < completedAtMs) throw errorFromCode(CONCURRENT_TRANSACTIONS);
    return 'done';
  };
  assert.equal(await coordinator.send(request), 'done');
  nowMs = 0;
  const gone = async () => {
    nowMs += 10_000;
    throw lost();
  };
  await assert.rejects(coordinator.send(gone), { name: 'KafkaJSConnectionError' });
  assert.equal(nowMs, 30_000, 'a coordinator is not waited for as long');
});

test('a fenced producer is not retried', async () => {
  const { cluster } = movingCoordinator(1);
  const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: 'app-0' });
  const { request, asked } = failingRequest(errorFromCode(PRODUCER_FENCED));
  await assert.rejects(coordinator.send(request), { type: 'PRODUCER_FENCED' });
  assert.deepEqual(asked, [1]);
});

test('retries end with the session', async () => {
  const { cluster } = movingCoordinator(1);
  const ended = new AbortController();
  const coordinator = new Coordinator(cluster, { type: TRANSACTION_COORDINATOR, id: 'app-0', signal: ended.signal });
  const reason = new Error('the session ended');
  const request = async () => {
    ended.abort(reason);
    throw lost();
  };
  await assert.rejects(coordinator.send(request), reason);
});
