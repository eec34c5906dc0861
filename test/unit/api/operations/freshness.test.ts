import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshnessReader } from '../../../../src/api/operations/freshness.ts';
import type { Operations } from '../../../../src/api/operations/operations.ts';
import type { HistoryProblem, HistoryReader } from '../../../../src/history/port/history-port.ts';
import { virtualTest } from '../../../fixture/virtual-time.ts';

const MINUTE_MS = 60_000;

/** An operation over one partition; `at` is the clock. */
function watched() {
  const now = {
    atMs: MINUTE_MS,
    nextOffset: 7 as number | null,
    endOffset: 7,
    members: 1,
    asked: 0,
    away: false,
    problem: null as HistoryProblem | null,
  };
  const partition = () => {
    return { topic: 'observations', partition: 0, nextOffset: now.nextOffset, endOffset: now.endOffset, owner: null };
  };
  const operations: Pick<Operations, 'reader' | 'problem' | 'otherClusters' | 'cluster'> = {
    reader: {
      standing: async () => {
        return {
          states: new Map([['scored', 3]]),
          ended: 2,
          newestMs: 5,
          storedAtMs: 6,
          incidents: { open: 2, unnamedSinceMs: 4 },
        };
      },
    } as Partial<HistoryReader> as HistoryReader,
    problem: () => now.problem,
    otherClusters: () => [],
    cluster: {
      historyEnds: async () => [],
      workers: async () => {
        now.asked++;
        if (now.away) return new Promise<never>(() => undefined);
        return { group: 'g', members: now.members, partitions: [partition()] };
      },
      diagnostics: async () => [{ kind: 'unwatched', records: 5, before: 0, of: 40, examples: ['x'] }],
      redrive: async () => undefined,
    },
  };
  const read = freshnessReader(operations as Operations, () => now.atMs);
  return { now, read };
}

test('counts of series, times, the lag of the workers and what no detector watches', async () => {
  const { read } = watched();
  assert.deepEqual(await read(), {
    at: MINUTE_MS,
    problem: null,
    incidents: { open: 2, stalled_since: 4 },
    newest: 5,
    stored_at: 6,
    other_clusters: [],
    series: { judged: 3, calibrating: 0, silent: 0, ended: 2 },
    workers: { members: 1, lag: 0, stalled_since: null },
    unwatched: { records: 5, of: 40, examples: ['x'] },
  });
});

test('readers of one moment share an answer, and so one question to the cluster', async () => {
  const { now, read } = watched();
  await Promise.all([read(), read()]);
  assert.equal(now.asked, 1);
  now.atMs += 2_000;
  await read();
  assert.equal(now.asked, 2);
});

test('scoring stalls where records wait and none is committed, not where they wait for a moment', async () => {
  const { now, read } = watched();
  const stalledAfter = async (ms: number, moved: Partial<typeof now>) => {
    Object.assign(now, moved, { atMs: now.atMs + ms });
    return (await read()).workers?.stalled_since;
  };
  await read();
  assert.equal(await stalledAfter(MINUTE_MS, { endOffset: 8 }), null, 'the marker of a transaction');
  assert.equal(await stalledAfter(5_000, { endOffset: 100 }), null);
  assert.equal(await stalledAfter(5_000, {}), null);
  assert.equal(await stalledAfter(6_000, {}), now.atMs - 11_000);
  assert.equal(await stalledAfter(5_000, { nextOffset: 50 }), null);
  assert.equal(await stalledAfter(5_000, { nextOffset: 60 }), null);
});

test('an input that has stopped is a problem, unless records wait for the workers', async () => {
  const { now, read } = watched();
  const stoppedWith = async (moved: Partial<typeof now>) => {
    Object.assign(now, moved, { atMs: now.atMs + MINUTE_MS });
    return (await read()).problem;
  };
  const stopped = { reason: 'nothing arrived', sinceMs: 5, due: '5min' };
  const shown = { reason: 'nothing arrived', since: 5, due: '5min' };
  assert.deepEqual(await stoppedWith({ problem: stopped }), shown);
  assert.deepEqual(await stoppedWith({ endOffset: 8 }), shown, 'the marker of a transaction');
  assert.equal(await stoppedWith({ endOffset: 100 }), null);
  assert.equal((await stoppedWith({ problem: { ...stopped, due: null } }))?.due, null, 'Kafka fails: that counts');
});

virtualTest('a cluster that does not answer is not known, and is not asked again while it is asked', async () => {
  const { now, read } = watched();
  now.away = true;
  assert.equal((await read()).workers, null);
  now.atMs += 10_000;
  assert.equal((await read()).workers, null);
  assert.equal(now.asked, 1);
});
