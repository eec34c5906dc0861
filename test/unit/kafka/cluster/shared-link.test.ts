import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterLink } from '../../../../src/kafka/cluster/connection.ts';
import { SharedLink } from '../../../../src/kafka/cluster/shared-link.ts';

interface Opened {
  refreshes: number;
  refresh: () => Promise<void>;
  closed: boolean;
}

function shared(): { link: SharedLink; opened: Opened[] } {
  const opened: Opened[] = [];
  const link = new SharedLink(async () => {
    const one: Opened = { refreshes: 0, refresh: async () => undefined, closed: false };
    opened.push(one);
    const refreshMetadata = () => {
      one.refreshes++;
      return one.refresh();
    };
    const destroy = () => {
      one.closed = true;
    };
    return { cluster: { refreshMetadata }, dropBroker: () => undefined, destroy } as unknown as ClusterLink;
  });
  return { link, opened };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('sessions share one link, with metadata that are fresh for each; it closes with the last of them', async () => {
  const { link, opened } = shared();
  const [a, b] = await Promise.all([link.acquire(), link.acquire()]);
  assert.deepEqual([opened.length, opened[0].refreshes], [1, 1]);
  a.destroy();
  a.destroy();
  await settled();
  assert.equal(opened[0].closed, false);
  b.destroy();
  await settled();
  assert.equal(opened[0].closed, true);
  await link.acquire();
  assert.equal(opened.length, 2);
});

test('a link whose brokers are gone is replaced; the sessions that have it keep it', async () => {
  const { link, opened } = shared();
  const earlier = await link.acquire();
  opened[0].refresh = () => Promise.reject(new Error('no broker answers'));
  await assert.rejects(link.acquire(), /no broker answers/);
  const later = await link.acquire();
  assert.deepEqual([opened.length, opened[0].closed], [2, false]);
  earlier.destroy();
  await settled();
  assert.equal(opened[0].closed, true);
  later.destroy();
});

test('a link that could not be opened is opened again', async () => {
  let tries = 0;
  const link = new SharedLink(async () => {
    if (++tries === 1) throw new Error('connection refused');
    return { destroy: () => undefined } as unknown as ClusterLink;
  });
  await assert.rejects(link.acquire(), /refused/);
  await link.acquire();
  assert.equal(tries, 2);
});
