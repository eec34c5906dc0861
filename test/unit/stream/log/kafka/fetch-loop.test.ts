import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterLink } from '../../../../../src/stream/log/kafka/connection.ts';
import type { FetchedPartition } from '../../../../../src/stream/log/kafka/fetch.ts';
import { FetchLoop } from '../../../../../src/stream/log/kafka/fetch-loop.ts';
import { encodeRecordBatch } from '../../../../../src/stream/log/kafka/record-batch-encoder.ts';
import { until } from '../../../../fixture/until.ts';

const NOT_LEADER = 6;
const UNKNOWN_SERVER_ERROR = -1;
const noIdentity = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };

/** A record at offset 0: the log of a partition that never moves on, so that each fetch counts. */
const RECORD = encodeRecordBatch([{ key: null, value: Buffer.from('x') }], noIdentity, 0);
const DAMAGED = Buffer.from(RECORD);
DAMAGED[DAMAGED.length - 2] ^= 1;

interface StubCluster {
  /** The leader of each partition; -1 is none. */
  leaders: number[];
  /** Error code of each partition; 0 is none. */
  errors: number[];
  /** Nodes whose requests fail. */
  readonly away: Set<number>;
  /** Partitions whose bytes were changed on the way. */
  readonly damaged: Set<number>;
  /** Every node is away, and there are no metadata. */
  lost: boolean;
  /** Responses so far in which each partition was. */
  readonly fetches: number[];
  links: number;
  refreshes: number;
}

/** A cluster whose partitions can be made to fail one by one. A fetch takes a millisecond. */
function stubCluster(partitions: number): { readonly stub: StubCluster; connect(): Promise<ClusterLink> } {
  const stub: StubCluster = {
    leaders: Array.from({ length: partitions }, () => 1),
    errors: Array.from({ length: partitions }, () => 0),
    away: new Set(),
    damaged: new Set(),
    lost: false,
    fetches: Array.from({ length: partitions }, () => 0),
    links: 0,
    refreshes: 0,
  };
  const lost = () => Object.assign(new Error('no broker'), { name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' });
  const answer = (partition: number): FetchedPartition => {
    stub.fetches[partition]++;
    const errorCode = stub.errors[partition];
    const records = errorCode === 0 ? (stub.damaged.has(partition) ? DAMAGED : RECORD) : Buffer.alloc(0);
    return { partition, errorCode, endOffset: 1, lastStableOffset: 1, aborted: [], records };
  };
  const broker = (nodeId: number) => ({
    nodeId,
    connectionPool: {
      host: 'stub',
      port: nodeId,
      async send({ request }: { request: { encode(): Promise<{ buffer: Buffer }> } }) {
        await sleep(1);
        if (stub.lost || stub.away.has(nodeId)) throw lost();
        return { throttledMs: 0, partitions: requestedPartitions((await request.encode()).buffer).map(answer) };
      },
    },
  });
  const cluster = {
    findTopicPartitionMetadata: () => stub.leaders.map((leader, partitionId) => ({ partitionId, leader })),
    async findBroker({ nodeId }: { nodeId: number }) {
      if (stub.lost) throw lost();
      return broker(nodeId);
    },
    async refreshMetadata() {
      stub.refreshes++;
      if (stub.lost) throw lost();
    },
    refreshMetadataIfNecessary: async () => undefined,
  };
  const connect = async () => {
    stub.links++;
    if (stub.lost) throw lost();
    return { cluster, dropBroker: () => undefined, destroy: () => undefined } as unknown as ClusterLink;
  };
  return { stub, connect };
}

/** Of a fetch request for one topic, version 11. */
function requestedPartitions(body: Buffer): number[] {
  const partitionsAt = 31 + body.readInt16BE(29);
  return Array.from({ length: body.readInt32BE(partitionsAt) }, (_, i) => body.readInt32BE(partitionsAt + 4 + 28 * i));
}

function openLoop(t: TestContext, connect: () => Promise<ClusterLink>) {
  const stalled = new Map<number, string>();
  const connections: (string | null)[] = [];
  const loop = new FetchLoop(connect, 'observations', {
    onRecords: () => undefined,
    onConnection: (error) => connections.push(error?.code ?? null),
    onStalled: (partition, error) => {
      if (error === null) stalled.delete(partition);
      else stalled.set(partition, error.message);
    },
    onFatal: (error) => assert.fail(error),
  });
  t.after(() => loop.stop());
  return { loop, stalled, connections };
}

suite('fetch loop', { concurrency: true }, () => {
  for (const [what, fail] of [
    ['that its broker does not lead', (stub: StubCluster) => stub.errors.splice(0, 1, NOT_LEADER)],
    ['with an error of its broker', (stub: StubCluster) => stub.errors.splice(0, 1, UNKNOWN_SERVER_ERROR)],
    ['whose bytes have a wrong checksum', (stub: StubCluster) => stub.damaged.add(0)],
    ['without a leader', (stub: StubCluster) => stub.leaders.splice(0, 1, -1)],
  ] as const) {
    test(`a partition ${what} does not starve its neighbours, and is named as stalled until it recovers`, async (t) => {
      const { stub, connect } = stubCluster(2);
      const { loop, stalled, connections } = openLoop(t, connect);
      await loop.open();
      fail(stub);
      for (const partition of [0, 1]) loop.start(partition, 0);
      await until('the partition is stalled', async () => stalled.has(0));
      const [failing, neighbour] = stub.fetches;
      assert.ok(failing <= 10, `${failing} fetches of the failing partition`);
      assert.ok(neighbour > 20 * Math.max(1, failing), `${neighbour} fetches of its neighbour, ${failing} of it`);
      assert.deepEqual([...stalled.keys()], [0]);
      assert.equal(stub.links, 1);
      stub.errors[0] = 0;
      stub.leaders[0] = 1;
      stub.damaged.clear();
      await until('it recovers', async () => stalled.size === 0);
      assert.ok(connections.every((error) => error === null));
    });
  }

  test('a broker that is away stalls its own partitions only, and no link is opened anew', async (t) => {
    const { stub, connect } = stubCluster(3);
    stub.leaders = [1, 2, 2];
    const { loop, stalled, connections } = openLoop(t, connect);
    await loop.open();
    stub.away.add(1);
    for (const partition of [0, 1, 2]) loop.start(partition, 0);
    await until('its partition is stalled', async () => stalled.has(0));
    assert.equal(stub.fetches[0], 0);
    assert.ok(Math.min(stub.fetches[1], stub.fetches[2]) > 200, String(stub.fetches));
    assert.equal(stub.links, 1);
    stub.leaders[0] = 2;
    await until('its partition has a new leader', async () => stub.fetches[0] > 0 && stalled.size === 0);
    assert.ok(connections.every((error) => error === null));
  });

  test('a cluster that is out of reach is connected to again, with back-off', async (t) => {
    const { stub, connect } = stubCluster(1);
    const { loop, connections } = openLoop(t, connect);
    await loop.open();
    loop.start(0, 0);
    await until('it is read', async () => stub.fetches[0] > 0);
    stub.lost = true;
    await until('it is out of reach', async () => stub.links > 5);
    assert.ok(connections.includes('broker-unavailable'));
    const read = stub.fetches[0];
    stub.lost = false;
    await until('it is read again', async () => stub.fetches[0] > read);
    assert.equal(connections.at(-1), null);
  });
});
