import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAcknowledgements } from '../../../../src/run/alerts/acknowledgements.ts';
import { openDatabase } from '../../../../src/store/database/open-store.ts';
import { acknowledgeEvent, labelEvent, muteEvent } from '../../../../src/store/event-reviews.ts';
import { acknowledgeIncident, muteIncident } from '../../../../src/store/incident-reviews.ts';
import { addMute } from '../../../../src/store/mutes.ts';
import { listSent } from '../../../../src/store/sent-alerts.ts';
import { eventId, notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { load } from '../../../fixture/configuration.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

test('events and incidents that somebody acknowledged or muted are found, once there is a store', async () => {
  const dataDir = freshFolder();
  const loaded = load({ env: { DATA_DIR: dataDir } });
  if (loaded.kind === 'problems') throw new Error(loaded.problems.join());
  const acknowledgements = readAcknowledgements(loaded.config);
  const ids = Array.from({ length: 1_200 }, (_, number) => eventId(number));
  const among = () => acknowledgements.among({ events: new Set(ids), incidents: new Set(ids) });
  assert.deepEqual(await among(), { events: new Set(), incidents: new Set() });

  const store = await openDatabase({ dataDir, url: null });
  const [event, act] = [
    (number: number) => ({ eventId: ids[number], startedAtMs: 0, record: '{}' }),
    { atMs: 1, by: 'ann' },
  ];
  await acknowledgeEvent(store, event(3), { ...act, note: null });
  await acknowledgeEvent(store, event(4), null);
  await muteEvent(store, event(1_100), { ...act, untilMs: 2, reason: 'known' });
  await labelEvent(store, event(5), { ...act, real: true, note: null });
  await acknowledgeIncident(store, { incidentId: ids[7], mergedIds: [], events: [] }, { ...act, note: null });
  await muteIncident(
    store,
    { incidentId: ids[900], mergedIds: [], events: [] },
    { ...act, untilMs: 2, reason: 'known' },
  );
  await acknowledgeIncident(store, { incidentId: ids[8], mergedIds: [], events: [] }, null);
  assert.deepEqual(await among(), {
    events: new Set([ids[3], ids[1_100]]),
    incidents: new Set([ids[7], ids[900]]),
  });
  assert.deepEqual(await acknowledgements.mutes(0), []);
  const mute = { ...act, id: 'm', match: 'web-*', detector: null, untilMs: 9, reason: 'move' };
  await addMute(store, mute);
  assert.deepEqual(await acknowledgements.mutes(8), [{ ...mute, ended: null }]);
  assert.deepEqual(await acknowledgements.mutes(9), []);
  const death = { reason: 'refused', detail: 'status 404' } as const;
  const notification = notificationOf([revisionsOf(1).opened, revisionsOf(2).closed]);
  await acknowledgements.keepSent([{ notification, death: null }], 5);
  await acknowledgements.keepSent([{ notification: notificationOf([revisionsOf(3).opened]), death }], 6);
  const { sent } = await listSent(store, { subjectIds: [], receiver: null, limit: 9, before: null });
  assert.deepEqual(
    sent.map(({ atMs, type, subject, outcome, detail }) => [atMs, type, subject, outcome, detail]),
    [
      [6, 'opened', 'series-3', 'refused', 'status 404'],
      [5, 'closed', 'series-2', 'accepted', null],
      [5, 'opened', 'series-1', 'accepted', null],
    ],
  );
  await acknowledgements.close();
  await store.close();
});
