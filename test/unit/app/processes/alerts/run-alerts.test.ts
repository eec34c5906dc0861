import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAlertStore } from '../../../../../src/app/processes/alerts/run-alerts.ts';
import { openDatabase } from '../../../../../src/store/database/open-store.ts';
import { addMute } from '../../../../../src/store/reviews/mutes.ts';
import { listSent } from '../../../../../src/store/reviews/sent-alerts.ts';
import { notificationOf, revisionsOf } from '../../../../fixture/alerts/notification.ts';
import { load } from '../../../../fixture/configuration.ts';
import { freshFolder } from '../../../../fixture/fresh-folder.ts';

test('mutes are read and what was sent is kept, once there is a store', async () => {
  const dataDir = freshFolder();
  const loaded = load({ env: { DATA_DIR: dataDir } });
  if (loaded.kind === 'problems') throw new Error(loaded.problems.join());
  const alertStore = openAlertStore(loaded.config);
  assert.deepEqual(await alertStore.mutes(0), []);

  const store = await openDatabase({ dataDir, url: null });
  assert.deepEqual(await alertStore.mutes(0), []);
  const mute = { atMs: 1, by: 'ann', id: 'm', match: 'web-*', detector: null, untilMs: 9, reason: 'move' };
  await addMute(store, mute);
  assert.deepEqual(await alertStore.mutes(8), [{ ...mute, ended: null }]);
  assert.deepEqual(await alertStore.mutes(9), []);
  const death = { reason: 'refused', detail: 'status 404' } as const;
  const notification = notificationOf([revisionsOf(1).opened, revisionsOf(2).closed]);
  await alertStore.keepSent([{ notification, death: null }], 5);
  await alertStore.keepSent([{ notification: notificationOf([revisionsOf(3).opened]), death }], 6);
  const { sent } = await listSent(store, { subjectIds: [], receiver: null, limit: 9, before: null });
  const actual = sent.map(({ atMs, type, subject, outcome, detail }) => [atMs, type, subject, outcome, detail]);
  assert.deepEqual(actual, [
    [6, 'opened', 'series-3', 'refused', 'status 404'],
    [5, 'closed', 'series-2', 'accepted', null],
    [5, 'opened', 'series-1', 'accepted', null],
  ]);
  await alertStore.close();
  await store.close();
});
