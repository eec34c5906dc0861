import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepSent } from '../../../src/store/reviews/sent-alerts.ts';
import { AUTHORIZED, startApp } from '../../fixture/http/http-service.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';

const SENT = {
  notificationId: 'n',
  receiver: 'hook',
  route: 'all',
  subject: 'web-1/cpu',
  outcome: 'accepted',
  detail: null,
};

test('what was sent about an event or its incident is listed newest first, page by page', async () => {
  const store = await openMemoryStore();
  const app = await startApp(undefined, { store, key: { role: 'viewer' } });
  const get = async (url: string) => (await app.inject({ url, headers: AUTHORIZED })).json();
  await keepSent(store, [
    { ...SENT, atMs: 1, type: 'opened', about: 'event', subjectId: 'e1' },
    { ...SENT, atMs: 2, type: 'opened', about: 'event', subjectId: 'e2', receiver: 'boss' },
    { ...SENT, atMs: 3, type: 'closed', about: 'incident', subjectId: 'i1', outcome: 'refused', detail: 'status 404' },
  ]);
  const page = await get('/v1/sent?limit=2');
  const {
    about: _,
    subjectId,
    atMs: at,
    ...last
  } = {
    ...SENT,
    atMs: 3,
    about: 'incident',
    subjectId: 'i1',
    type: 'closed',
    outcome: 'refused',
    detail: 'status 404',
  };
  assert.deepEqual(page.sent[0], { at, eventId: null, incidentId: subjectId, ...last });
  const timesOf = async (query: string) => {
    return (await get(`/v1/sent?${query}`)).sent.map((sent: { readonly at: number }) => sent.at);
  };
  assert.deepEqual(await timesOf(`limit=2&cursor=${page.next_cursor}`), [1]);
  assert.deepEqual(await timesOf('event=e1&incident=i1'), [3, 1]);
  assert.deepEqual(await timesOf('incident=i1'), [3]);
  assert.deepEqual(await timesOf('receiver=boss'), [2]);
  assert.equal((await get('/v1/sent?cursor=x')).detail[0].loc[1], 'cursor');
});
