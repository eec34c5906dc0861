import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeRecordBatch } from '../../../../src/kafka/batch/record-batch-encoder.ts';
import type { InputRecord } from '../../../../src/kafka/batch/records.ts';
import type { ClusterLink } from '../../../../src/kafka/cluster/connection.ts';
import type { FetchedPartition } from '../../../../src/kafka/fetch/fetch.ts';
import { FetchLoop } from '../../../../src/kafka/fetch/fetch-loop.ts';
import { LeaderEpochs } from '../../../../src/kafka/fetch/leader-epochs.ts';
import { until } from '../../../fixture/until.ts';

const NOT_LEADER = 6;
const OFFSET_FOR_LEADER_EPOCH = 23;
const VERSIONS = { 1: { minVersion: 4, maxVersion: 18 }, 23: { minVersion: 2, maxVersion: 4 } };
const FENCED_LEADER_EPOCH = 74;
const UNKNOWN_LEADER_EPOCH = 75;
const UNKNOWN_SERVER_ERROR = -1;
const noIdentity = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };

/** A record at offset 0: the log of a partition that never moves on, so that each fetch counts. */
const RECORD = encodeRecordBatch([{ key: null, value: Buffer.from('x') }], noIdentity, 0);
const DAMAGED = Buffer.from(RECORD);
DAMAGED[DAMAGED.length - 2] ^= 1;

interface StubCluster {
  /** The leader of each partition; -1 is none. */
  leaders: number[];
  /** The epoch of every leader. */
  epoch: number;
  /** Where an epoch ends that is asked for; -1: not known. */
  epochEnd: number;
  /** Epochs whose end was asked for. */
  readonly asked: number[];
  /** Error code of each partition; 0 is none. */
  errors: number[];
  /** Nodes whose requests fail. */
  readonly away: Set<number>;
  /** Partitions whose bytes were changed on the way. */
  readonly damaged: Set<number>;
  /** Partitions with a record that is in a transaction that has not ended. */
  readonly open: Set<number>;
  /** Every node is away, and there are no metadata. */
  lost: boolean;
  /** Responses so far in which each partition was. */
  readonly fetches: number[];
  links: number;
  refreshes: number;
  /** Changes what the metadata say. */
  onRefresh: () => void;
}

/** A cluster whose partitions can be made to fail one by one. A fetch takes a millisecond. */
function stubCluster(partitions: number): { readonly stub: StubCluster; connect(): Promise<ClusterLink> } {
  const stub: StubCluster = {
    leaders: Array.from({ length: partitions }, () => 1),
    epoch: 0,
    epochEnd: -1,
    asked: [],
    errors: Array.from({ length: partitions }, () => 0),
    away: new Set(),
    damaged: new Set(),
    open: new Set(),
    lost: false,
    fetches: Array.from({ length: partitions }, () => 0),
    links: 0,
    refreshes: 0,
    onRefresh: () => undefined,
  };
  const lost = () => Object.assign(new Error('no broker'), { name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' });
  const answer = (partition: number): FetchedPartition => {
    stub.fetches[partition]++;
    const errorCode = stub.errors[partition];
    if (stub.open.has(partition)) {
      return { partition, errorCode, endOffset: 1, lastStableOffset: 0, aborted: [], records: Buffer.alloc(0) };
    }
    const records = errorCode === 0 ? (stub.damaged.has(partition) ? DAMAGED : RECORD) : Buffer.alloc(0);
    return { partition, errorCode, endOffset: 1, lastStableOffset: 1, aborted: [], records };
  };
  const broker = (nodeId: number) => ({
    nodeId,
    versions: VERSIONS,
    connectionPool: {
      host: 'stub',
      port: nodeId,
      async send({ request }: { request: { apiKey: number; encode(): Promise<{ buffer: Buffer }> } }) {
        await sleep(1);
        if (stub.lost || stub.away.has(nodeId)) throw lost();
        const body = (await request.encode()).buffer;
        if (request.apiKey === OFFSET_FOR_LEADER_EPOCH) {
          stub.asked.push(body.readInt32BE(body.length - 4));
          return { topics: [{ partitions: [{ errorCode: 0, endOffset: stub.epochEnd }] }] };
        }
        return { throttledMs: 0, partitions: requestedPartitions(body).map(answer) };
      },
    },
  });
  const cluster = {
    findTopicPartitionMetadata: () =>
      stub.leaders.map((leader, partitionId) => ({ partitionId, leader, leaderEpoch: stub.epoch })),
    async findBroker({ nodeId }: { nodeId: number }) {
      if (stub.lost) throw lost();
      return broker(nodeId);
    },
    async refreshMetadata() {
      stub.refreshes++;
      if (stub.lost) throw lost();
      stub.onRefresh();
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
  const epochs = new LeaderEpochs();
  const delivered: InputRecord[] = [];
  const loop = new FetchLoop(connect, 'observations', {
    epochs,
    onRecords: (_partition, records) => delivered.push(...records),
    onConnection: (error) => connections.push(error?.code ?? null),
    onStalled: (partition, error) => {
      if (error === null) stalled.delete(partition);
      else stalled.set(partition, error.message);
    },
    onFatal: (error) => assert.fail(error),
  });
  t.after(() => loop.stop());
  return { loop, stalled, connections, epochs, delivered };
}

suite('fetch loop', { concurrency: true }, () => {
  for (const [what, fail] of [
    ['that its broker does not lead', (stub: StubCluster) => stub.errors.splice(0, 1, NOT_LEADER)],
    ['of a leader with a newer epoch', (stub: StubCluster) => stub.errors.splice(0, 1, FENCED_LEADER_EPOCH)],
    ['of a leader with an older epoch', (stub: StubCluster) => stub.errors.splice(0, 1, UNKNOWN_LEADER_EPOCH)],
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
      assert.ok(stub.fetches[0] <= 10, `${stub.fetches[0]} fetches of the failing partition`);
      // Where both waited for the same back-off, they would stay equal.
      await until('its neighbour is far ahead', async () => stub.fetches[1] > 20 * Math.max(1, stub.fetches[0]));
      assert.deepEqual([...stalled.keys()], [0]);
      assert.equal(stub.links, 1);
      stub.errors[0] = 0;
      stub.leaders[0] = 1;
      stub.damaged.clear();
      await until('it recovers', async () => stalled.size === 0);
      assert.ok(connections.every((error) => error === null));
    });
  }

  test('a partition that waits for the end of a transaction is named as stalled until that ends', async (t) => {
    const { stub, connect } = stubCluster(2);
    const { loop, stalled, connections } = openLoop(t, connect);
    await loop.open();
    stub.open.add(0);
    for (const partition of [0, 1]) loop.start(partition, 0);
    await until('it is named', async () => stalled.has(0));
    assert.match(stalled.get(0)!, /^A transaction hangs in partition 0 of topic observations since offset 0/);
    stub.open.clear();
    await until('it recovers', async () => stalled.size === 0);
    assert.ok(connections.every((error) => error === null));
  });

  test('a broker that is away stalls its own partitions only, and no link is opened again', async (t) => {
    const { stub, connect } = stubCluster(3);
    stub.leaders = [1, 2, 2];
    const { loop, stalled, connections } = openLoop(t, connect);
    await loop.open();
    stub.away.add(1);
    for (const partition of [0, 1, 2]) loop.start(partition, 0);
    const areOthersRead = () => Math.min(stub.fetches[1], stub.fetches[2]) > 50;
    await until('its partition is stalled, and the others are read', async () => stalled.has(0) && areOthersRead());
    assert.equal(stub.fetches[0], 0);
    assert.equal(stub.links, 1);
    stub.leaders[0] = 2;
    await until('its partition has a new leader', async () => stub.fetches[0] > 0 && stalled.size === 0);
    assert.ok(connections.every((error) => error === null));
  });

  test('partitions of a broker that died are read from their new leaders at once', async (t) => {
    const { stub, connect } = stubCluster(2);
    const { loop } = openLoop(t, connect);
    await loop.open();
    stub.away.add(1);
    stub.onRefresh = () => {
      stub.leaders = [2, 3];
    };
    for (const partition of [0, 1]) loop.start(partition, 0);
    await until('they are read', async () => Math.min(...stub.fetches) > 0);
    // A partition that backs off refreshes the metadata once more.
    assert.equal(stub.refreshes, 1);
  });

  test('after a change of the leader its log is asked whether it holds the position', async (t) => {
    const { stub, connect } = stubCluster(1);
    const { loop, epochs, delivered } = openLoop(t, connect);
    await loop.open();
    stub.epoch = 3;
    stub.epochEnd = 1;
    epochs.committed(0, 1, 2);
    loop.start(0, 1);
    await until('it is read', async () => stub.fetches[0] > 2);
    assert.deepEqual(stub.asked, [2]);
    assert.deepEqual(delivered, []);
    stub.epoch = 4;
    await until('it is asked again', async () => stub.asked.length > 1);
  });

  test('a log that ended earlier under its new leader is read from there, and the lost offsets are named', async (t) => {
    const { stub, connect } = stubCluster(1);
    const { loop, epochs, delivered } = openLoop(t, connect);
    await loop.open();
    stub.epoch = 3;
    stub.epochEnd = 0;
    epochs.committed(0, 9, 2);
    loop.start(0, 9);
    await until('the records of the new leader are read', async () => delivered.length > 1);
    assert.deepEqual(delivered[0].skipped, { first: 0, last: 8, reason: 'records-truncated' });
    assert.deepEqual([delivered[0].offset, delivered[1].offset], [-1, 0]);
  });

  test('a position whose epoch is not known is read without a question', async (t) => {
    const { stub, connect } = stubCluster(1);
    const { loop } = openLoop(t, connect);
    await loop.open();
    stub.epoch = 3;
    loop.start(0, 5);
    await until('it is read', async () => stub.fetches[0] > 0);
    assert.deepEqual(stub.asked, []);
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
