import assert from 'node:assert/strict';
import test from 'node:test';
import { type QueuedRequest, RunQueue, type Segment } from '../../../src/models/run-queue.ts';

type Named = QueuedRequest & { readonly name: string };

function request(name: string, rows: number, key = 'line'): Named {
  return { name, key, batch: { rows, contextLength: 1, values: new Float32Array(rows), horizon: 1 } };
}

function queueOf(requests: readonly Named[], rowsMax = 1_000, fullRun = 8): RunQueue<Named> {
  const queue = new RunQueue<Named>(rowsMax, () => fullRun);
  for (const each of requests) assert(queue.add(each));
  return queue;
}

/** `a[0..3]` for the first three rows of request a. */
function shown(segments: readonly Segment<Named>[]): string {
  return segments.map(({ request, firstRow, rows }) => `${request.name}[${firstRow}..${firstRow + rows}]`).join(' ');
}

const own = request('group', 20, 'its own line');

for (const [law, requests, rowsMax, runs] of [
  [
    'requests of one key are merged first in, first out',
    [request('a', 3), request('b', 2), request('c', 4)],
    5,
    ['a[0..3] b[0..2]', 'c[0..4]'],
  ],
  [
    'the remainder of a cut request goes to the end of its line, so that a long request does not block a short one',
    [request('long', 20), request('short', 2)],
    8,
    ['long[0..8]', 'short[0..2] long[8..14]', 'long[14..20]'],
  ],
  [
    'the remainder of a cut request that fits into a run is the first of the next one: small requests keep their order',
    [request('a', 5), request('b', 6), request('c', 4)],
    8,
    ['a[0..5] b[0..3]', 'b[3..6] c[0..4]'],
  ],
  [
    'requests of different keys never share a run, and their lines take turns',
    [request('a', 4, 'x'), request('b', 1, 'y')],
    2,
    ['a[0..2]', 'b[0..1]', 'a[2..4]'],
  ],
  [
    'a group is never cut',
    [{ ...own, batch: { ...own.batch, isGroup: true } }, request('a', 3)],
    8,
    ['group[0..20]', 'a[0..3]'],
  ],
] as const) {
  test(law, () => {
    const queue = queueOf(requests);
    for (const run of [...runs, '']) assert.equal(shown(queue.pop(rowsMax)), run);
    assert.equal(queue.rows, 0);
  });
}

test('a line with a full run is found behind a shorter one, which has its turn first', () => {
  const queue = queueOf([request('a', 2, 'x'), request('b', 9, 'y')]);
  assert.equal(queue.rowsNext, 2);
  assert.equal(queue.hasFullRun(), true);
  assert.equal(shown(queue.pop()), 'a[0..2]');
  assert.equal(shown(queue.pop()), 'b[0..8]');
  assert.equal(queue.hasFullRun(), false);
  assert.equal(queue.rowsNext, 1);
});

test('a request that does not fit is not queued', () => {
  const queue = queueOf([request('a', 6)], 10);
  assert.equal(queue.add(request('b', 5)), false);
  assert.equal(queue.rows, 6);
  assert.equal(queue.add(request('c', 4)), true);
});

test('a removed request leaves the others; removing it twice, or after it was taken, changes nothing', () => {
  const [a, b] = [request('a', 6), request('b', 2)];
  const queue = queueOf([a, b]);
  assert.equal(shown(queue.pop(4)), 'a[0..4]');
  queue.remove(a);
  queue.remove(a);
  assert.equal(queue.rows, 2);
  assert.equal(shown(queue.pop(4)), 'b[0..2]');
  queue.remove(b);
  assert.equal(queue.rows, 0);
});

test('clear returns the queued requests', () => {
  const queue = queueOf([request('a', 1, 'x'), request('b', 2, 'y')]);
  const names = queue.clear().map(({ name }) => name);
  assert.deepEqual(names, ['a', 'b']);
  assert.equal(queue.rows, 0);
  assert.equal(shown(queue.pop(8)), '');
});

const ownedBy = (owner: string, name: string, rows: number, key = 'line'): Named => {
  return { ...request(name, rows, key), owner };
};

test('owners take turns, however many requests and lines one of them has', () => {
  const many = Array.from({ length: 70 }, (_, i) => ownedBy('ann', `a${i}`, 100, `line ${i % 7}`));
  const queue = queueOf([...many, ownedBy('bob', 'b', 3, 'line 0'), ownedBy('bob', 'c', 3, 'of his own')], 10_000);
  assert.equal(shown(queue.pop()), 'a0[0..8]');
  assert.equal(shown(queue.pop()), 'b[0..3] a7[0..5]');
  assert.equal(shown(queue.pop()), 'a1[0..8]');
  assert.equal(shown(queue.pop()), 'c[0..3]');
  assert.equal(shown(queue.pop()), 'a2[0..8]');
});

test('an owner that has filled the queue does not keep the few rows of another one out', () => {
  const queue = queueOf([ownedBy('ann', 'a', 10)], 10);
  assert.equal(queue.add(ownedBy('ann', 'more', 1)), false);
  assert.equal(queue.add(ownedBy('bob', 'b', 2)), true);
  assert.equal(queue.add(ownedBy('bob', 'c', 1)), false, 'a quarter is what is left to each');
  queue.remove(queue.clear()[0]);
  assert.equal(queue.rows, 0);
});

test('rows of several owners that fit together share a run', () => {
  const queue = queueOf([ownedBy('ann', 'a', 3), ownedBy('bob', 'b', 3), ownedBy('eve', 'c', 3)]);
  assert.equal(shown(queue.pop()), 'a[0..3] b[0..3] c[0..2]');
  assert.equal(shown(queue.pop()), 'c[2..3]');
});
