import assert from 'node:assert/strict';
import test from 'node:test';
import { type TurnLimits, Turns } from '../../../src/sandbox/turns.ts';
import { recordedWork } from '../../fixture/recorded-work.ts';

const never = new AbortController().signal;

function recorded(limits?: TurnLimits) {
  const turns = new Turns(limits);
  return { turns, ...recordedWork(turns) };
}

test('five tunings of one owner do not hold up that of another: owners take turns', async () => {
  const { begun, run, end } = recorded();
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run('ann', name));
  all.push(run('bob', 'b1'), run('bob', 'b2'));
  for (const name of ['a1', 'b1', 'a2', 'b2', 'a3', 'a4', 'a5']) await end(name);
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4', 'a5']);
  assert.equal((await Promise.all(all)).length, 7);
});

test('a caller that hung up loses its place, and what it held', async () => {
  const { turns, begun, run, end } = recorded();
  const stop = new AbortController();
  const first = run('ann', 'first');
  const gone = run('ann', 'gone', stop.signal);
  const last = run('ann', 'last');
  assert.equal(turns.heldBy('ann'), 3);
  stop.abort(new Error('hung up'));
  await assert.rejects(gone, /hung up/);
  assert.equal(turns.held, 2);
  await end('first');
  await end('last');
  assert.deepEqual([await first, await last, begun], ['first', 'last', ['first', 'last']]);
  assert.equal(turns.held, 0);
});

test('work that fails gives its turn on', async () => {
  const turns = new Turns();
  const failed = turns.run('ann', never, () => Promise.reject(new Error('failed')));
  const next = turns.run('ann', never, async () => 'next');
  await assert.rejects(failed, /failed/);
  assert.equal(await next, 'next');
});

test('without a limit of places, work beyond that of its owner waits, and that of another begins at once', async () => {
  const { begun, run, end } = recorded({ places: Number.POSITIVE_INFINITY, ofOwner: 2 });
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('ann', name));
  all.push(run('bob', 'b1'));
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  await end('a2');
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  for (const name of ['a1', 'a3', 'b1', 'a4']) await end(name);
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('with two places one is left to other owners', async () => {
  const { begun, run, end, turns } = recorded({ places: 2, ofOwner: 1 });
  const all = ['a1', 'a2', 'a3'].map((name) => run('ann', name));
  assert.deepEqual(begun, ['a1'], 'the other place is left');
  all.push(run('bob', 'b1'), run('bob', 'b2'), run('cat', 'c1'));
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('a1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1'], 'whose last began longest ago: never');
  await end('b1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2']);
  for (const name of ['c1', 'b2', 'a2', 'a3']) await end(name);
  await Promise.all(all);
  assert.deepEqual([begun.slice(4), turns.held], [['b2', 'a3'], 0]);
});
