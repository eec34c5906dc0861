import assert from 'node:assert/strict';
import { suite, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRefused, likelyAliveFirst } from '../../../../src/kafka/cluster/given-up.ts';
import { watchSilentBrokers } from '../../../../src/kafka/cluster/silent-brokers.ts';
import type { TrackedSockets } from '../../../../src/kafka/cluster/tracked-sockets.ts';
import type { Cluster } from '../../../../src/kafka/protocol/protocol-request.ts';
import { until } from '../../../fixture/until.ts';
import { virtualTest as test } from '../../../fixture/virtual-time.ts';

/** A cluster of brokers at ports of a host, of which the metadata name `alive`. Some of them answer. */
function watched(
  t: TestContext,
  {
    host,
    alive,
    answering,
    known = [1, 2, 3],
    configured = null,
  }: {
    readonly host: string;
    readonly alive: readonly number[];
    readonly answering: number[];
    /** By the metadata. */
    readonly known?: readonly number[];
    /** What brokers of the configuration answer. */
    readonly configured?: readonly number[] | null;
  },
) {
  const seen = { checks: 0, refreshes: 0, dropped: new Set<number>() };
  const waits = new Map<number, { readonly waitedMs: number; readonly answered: boolean }>();
  const brokers = known.map((port) => ({
    connectionPool: { host, port },
    connect: async () => undefined,
    metadata: () => {
      if (!answering.includes(port)) return new Promise(() => undefined);
      return Promise.resolve({ brokers: alive.map((one) => ({ host, port: one })) });
    },
  }));
  const cluster = {
    targetTopics: new Set(['observations']),
    brokerPool: { brokers: Object.fromEntries(brokers.entries()) },
    refreshMetadata: async () => void seen.refreshes++,
  } as unknown as Cluster;
  const dropPort = (port: number) => {
    seen.dropped.add(port);
    waits.delete(port);
  };
  const sockets = {
    waiting: () => {
      seen.checks++;
      return Array.from(waits, ([port, wait]) => ({ host, port, ...wait, drop: () => dropPort(port) }));
    },
    drop: (to) => {
      if (to.host === host) dropPort(to.port);
    },
  } as Partial<TrackedSockets> as TrackedSockets;
  const listConfigured = async () => (configured === null ? null : configured.map((port) => ({ host, port })));
  t.after(watchSilentBrokers(cluster, sockets, listConfigured));
  return { seen, waits };
}

suite('silent brokers', () => {
  test('a silent broker that another one does not know is given up, and whoever may wait for it', async (t) => {
    const { seen, waits } = watched(t, { host: 'a', alive: [2, 3], answering: [2, 3] });
    waits.set(1, { waitedMs: 2_100, answered: true });
    waits.set(2, { waitedMs: 2_100, answered: true });
    waits.set(3, { waitedMs: 300, answered: true });
    await until('the metadata are refreshed', () => seen.refreshes > 0);
    assert.deepEqual([...seen.dropped].sort(), [1, 2]);
    assert.deepEqual(likelyAliveFirst(['a:1', 'a:2', 'b:1'], performance.now()), ['a:2', 'b:1', 'a:1']);
    // It is away already: nobody waits two seconds for it again.
    waits.set(1, { waitedMs: 600, answered: false });
    await until('it is given up again', () => seen.refreshes > 1);
  });

  test('what one cluster learns of a dead broker no other one waits for', async (t) => {
    const { seen, waits } = watched(t, { host: 'b', alive: [2, 3], answering: [2, 3] });
    const other = watched(t, { host: 'b', alive: [2, 3], answering: [2, 3] });
    assert.ok(!isRefused({ host: 'b', port: 1 }, performance.now()));
    waits.set(1, { waitedMs: 2_100, answered: true });
    other.waits.set(1, { waitedMs: 100, answered: true });
    other.waits.set(2, { waitedMs: 2_100, answered: true });
    other.waits.set(3, { waitedMs: 100, answered: true });
    await until('it is given up', () => seen.dropped.has(1));
    assert.deepEqual([...other.seen.dropped].sort(), [1, 2]);
    assert.ok(isRefused({ host: 'b', port: 1 }, performance.now()), 'connections to it are refused for a while');
    assert.ok(!isRefused({ host: 'b', port: 1 }, performance.now() + 3_000));
    assert.ok(!isRefused({ host: 'b', port: 2 }, performance.now()));
  });

  test('a silent broker is given up although the metadata name it alone', async (t) => {
    const { seen, waits } = watched(t, { host: 'e', alive: [], answering: [], known: [1], configured: [2, 3] });
    waits.set(1, { waitedMs: 2_100, answered: true });
    await until('it is given up', () => seen.refreshes > 0);
    assert.deepEqual([...seen.dropped], [1]);
  });

  test('a broker that is slow and alive keeps its connections', async (t) => {
    const { seen, waits } = watched(t, { host: 'c', alive: [1, 2, 3], answering: [3] });
    waits.set(1, { waitedMs: 9_000, answered: true });
    await until('it was looked at', () => seen.checks > 2);
    await sleep(100);
    assert.equal(seen.dropped.size, 0);
  });

  test('where no broker answers none is given up, except one that never answered', async (t) => {
    const { seen, waits } = watched(t, { host: 'd', alive: [], answering: [] });
    waits.set(1, { waitedMs: 9_000, answered: true });
    waits.set(2, { waitedMs: 4_000, answered: false });
    await until('it was looked at', () => seen.checks > 1);
    waits.delete(2);
    waits.set(3, { waitedMs: 5_100, answered: false });
    await until('the strange one is given up', () => seen.dropped.has(3));
    assert.ok(!seen.dropped.has(2));
  });
});
