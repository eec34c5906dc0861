import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addMute,
  ENDED_MUTES_KEPT,
  endedMutes,
  endMute,
  holdingMutes,
  MUTES_MAX,
} from '../../../../src/store/reviews/mutes.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

const mute = (id: string, untilMs: number, changes: object = {}) => {
  return { id, match: 'web-*', detector: null, atMs: 10, by: 'ann', untilMs, reason: 'move', ...changes };
};
const idsOf = (mutes: readonly { readonly id: string }[]) => mutes.map(({ id }) => id);

openedTest('a mute holds until its end, or until somebody ends it', async (store) => {
  assert.deepEqual(await addMute(store, mute('late', 300)), { ...mute('late', 300), ended: null });
  await addMute(store, mute('early', 200, { match: null, detector: 'hosts' }));
  assert.deepEqual(idsOf(await holdingMutes(store, 100)), ['early', 'late']);
  assert.deepEqual((await holdingMutes(store, 100))[1], { ...mute('late', 300), ended: null });
  assert.deepEqual(idsOf(await holdingMutes(store, 200)), ['late']);
  assert.deepEqual(idsOf(await endedMutes(store, 200)), ['early']);
  const ended = { atMs: 250, by: 'bob' };
  assert.deepEqual(await endMute(store, 'late', ended), { ...mute('late', 300), ended });
  assert.equal(await endMute(store, 'late', ended), null);
  assert.equal(await endMute(store, 'early', ended), null);
  assert.deepEqual(await holdingMutes(store, 251), []);
  assert.deepEqual(idsOf(await endedMutes(store, 251)), ['late', 'early']);
});

openedTest('the same mute twice is one while it holds', async (store) => {
  const first = await addMute(store, mute('first', 300));
  assert.deepEqual(await addMute(store, mute('again', 300, { atMs: 20, by: 'bob' })), first);
  const whole = { match: null, detector: 'hosts' };
  await addMute(store, mute('whole', 300, whole));
  assert.equal((await addMute(store, mute('whole again', 300, whole)))?.id, 'whole');
  const others = {
    until: { untilMs: 301 },
    reason: { reason: 'disk' },
    match: { match: 'db-*' },
    both: { detector: 'a' },
  };
  for (const [id, changes] of Object.entries(others)) {
    assert.equal((await addMute(store, mute(id, 300, changes)))?.id, id);
  }
  await endMute(store, 'first', { atMs: 100, by: 'ann' });
  assert.equal((await addMute(store, mute('anew', 300, { atMs: 100 })))?.id, 'anew');
});

storeTest('equal mutes at the same time are one', async ({ open }) => {
  const [one, other] = [await open(), await open()];
  let second: Promise<{ readonly id: string } | null> = Promise.resolve(null);
  await one.transaction(async (sql) => {
    await addMute(sql, mute('first', 300));
    second = other.transaction((sql) => addMute(sql, mute('second', 300)));
    // By now the other one has looked for an equal mute, unless it waits.
    await sleep(100);
  });
  assert.equal((await second)?.id, 'first');
  assert.deepEqual(idsOf(await holdingMutes(one, 20)), ['first']);
});

openedTest('so many mutes hold at once, and so many that have ended are kept', async (store) => {
  await store.transaction(async (sql) => {
    for (let i = 0; i < MUTES_MAX; i++) assert.equal((await addMute(sql, mute(`m${i}`, 100 + i)))?.id, `m${i}`);
    assert.equal(await addMute(sql, mute('one more', 99)), null);
    assert.equal((await addMute(sql, mute('later', 9_000, { atMs: 100 })))?.id, 'later');
    for (let i = 0; i < ENDED_MUTES_KEPT - MUTES_MAX + 10; i++) {
      await addMute(sql, mute(`n${i}`, 5_000 + i, { atMs: 4_000 + i }));
      await endMute(sql, `n${i}`, { atMs: 4_001 + i, by: 'bob' });
    }
    await addMute(sql, mute('last', 9_001, { atMs: 8_000 }));
  });
  const ended = await endedMutes(store, 8_000);
  assert.equal(ended.length, ENDED_MUTES_KEPT);
  assert.equal(idsOf(ended).includes('m0'), false);
  assert.deepEqual(idsOf(await holdingMutes(store, 8_000)), ['later', 'last']);
});
