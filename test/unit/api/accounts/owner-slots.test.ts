import assert from 'node:assert/strict';
import test from 'node:test';
import { OwnerSlots } from '../../../../src/api/accounts/owner-slots.ts';
import { recordedWork } from '../../../fixture/recorded-work.ts';

const never = new AbortController().signal;

test('work of one owner beyond its slots waits in order, that of another begins at once', async () => {
  const { begun, run, end } = recordedWork(new OwnerSlots(2));
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('ann', name));
  all.push(run('bob', 'b1'));
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  await end('a2');
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  for (const name of ['a1', 'a3', 'b1', 'a4']) await end(name);
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'a4']);
  const later = run('ann', 'later');
  assert.equal(begun.at(-1), 'later');
  await end('later');
  await later;
});

test('a caller that hung up while it waited loses its place, and failed work frees its slot', async () => {
  const { begun, run, end } = recordedWork(new OwnerSlots(1));
  const stop = new AbortController();
  const first = run('ann', 'first');
  const gone = run('ann', 'gone', stop.signal);
  const last = run('ann', 'last');
  stop.abort(new Error('hung up'));
  await assert.rejects(gone, /hung up/);
  await end('first');
  await first;
  await end('last');
  await last;
  assert.deepEqual(begun, ['first', 'last']);
  const slots = new OwnerSlots(1);
  await assert.rejects(
    slots.run('ann', never, () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await slots.run('ann', never, async () => 'next'), 'next');
});
