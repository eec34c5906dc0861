import assert from 'node:assert/strict';
import { keepSent, listSent, type SentAlert } from '../../../../src/store/reviews/sent-alerts.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

const sent = (number: number, changes: Partial<SentAlert> = {}): SentAlert => ({
  atMs: number,
  notificationId: `n${number}`,
  receiver: 'hook',
  route: 'all',
  type: 'opened',
  about: 'event',
  subjectId: `e${number}`,
  subject: 'web-1/cpu',
  outcome: 'accepted',
  detail: null,
  ...changes,
});
const ALL = { subjectIds: [], receiver: null, limit: 10, before: null };

storeTest('what was sent is listed newest first, in pages, of events, incidents and receivers', async ({ open }) => {
  const store = await open();
  const incident = sent(2, { about: 'incident', subjectId: 'i', subject: '3 events', type: 'updated' });
  const given = sent(3, { receiver: 'boss', outcome: 'refused', detail: 'status 404' });
  await keepSent(store, [sent(1), incident, given]);
  await keepSent(store, []);
  assert.deepEqual(await listSent(store, ALL), { sent: [given, incident, sent(1)], next: null });
  const first = await listSent(store, { ...ALL, limit: 2 });
  assert.deepEqual(first.sent, [given, incident]);
  const second = await listSent(store, { ...ALL, limit: 2, before: first.next });
  assert.deepEqual(second, { sent: [sent(1)], next: null });
  assert.deepEqual((await listSent(store, { ...ALL, subjectIds: ['e1', 'i'] })).sent, [incident, sent(1)]);
  assert.deepEqual((await listSent(store, { ...ALL, receiver: 'boss' })).sent, [given]);
});

openedTest('so much of what was sent is kept, the newest', async (store) => {
  const all = Array.from({ length: 250 }, (_, i) => sent(i));
  await keepSent(store, all.slice(0, 240), 50);
  await keepSent(store, all.slice(240), 50);
  const kept = (await listSent(store, { ...ALL, limit: 1_000 })).sent;
  assert.deepEqual(kept, all.slice(200).reverse());
});
