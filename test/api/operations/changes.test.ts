import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOperations } from '../../fixture/history/fake-operations.ts';
import {
  anomalyEvent,
  batchOf,
  keptEvent,
  keptIncident,
  MINUTE_MS,
  START_MS,
} from '../../fixture/history/kept-records.ts';
import { incident } from '../../fixture/incidents/incident.ts';

const BEGIN = START_MS + 90 * MINUTE_MS;

const start = () => startOperations(() => BEGIN);

const textsOf = ({ body }: { body: { changes: readonly { text: string }[] } }) => body.changes.map(({ text }) => text);

test('a change is written, listed by time and what it concerns, and taken back', async () => {
  const { send } = await start();
  const deploy = {
    time: BEGIN - 12 * MINUTE_MS,
    text: 'deploy web 4.2',
    labels: { service: 'web' },
    link: 'https://ci.example.com/42',
  };
  const { status, body } = await send('POST', '/v1/changes', deploy);
  const { id, ...written } = body;
  assert.equal(status, 200);
  assert.deepEqual(written, { ...deploy, timeEnd: null, tags: [], series: null });
  await send('POST', '/v1/changes', { time: BEGIN, text: 'new certificates', tags: ['tls'], dashboardUID: 'x' });
  assert.deepEqual(textsOf(await send('GET', '/v1/changes')), ['new certificates', 'deploy web 4.2']);
  const one = await send('GET', `/v1/changes?limit=1&to=${BEGIN - 1}`);
  assert.deepEqual([textsOf(one), one.body.total], [['deploy web 4.2'], 1]);
  assert.deepEqual(textsOf(await send('GET', '/v1/changes?series=other')), ['new certificates']);
  assert.deepEqual((await send('DELETE', `/v1/changes/${id}`)).body, { id });
  assert.deepEqual(textsOf(await send('GET', '/v1/changes')), ['new certificates']);
  const again = await send('DELETE', `/v1/changes/${id}`);
  assert.deepEqual([again.status, typeof again.body.detail], [404, 'string']);
  assert.equal((await send('DELETE', '/v1/changes/unheard')).status, 404);
  assert.equal((await send('DELETE', `/v1/changes/${'x'.repeat(65)}`)).status, 422);
});

test('a change that cannot be used is refused with its fields, and nobody but operators writes one', async () => {
  const { send } = await start();
  const refused = async (body: object | string) => {
    const answer = await send('POST', '/v1/changes', body);
    return [answer.status, answer.body.detail.map?.(({ loc }: { loc: readonly string[] }) => loc.join('.'))];
  };
  assert.deepEqual(await refused({}), [422, ['body.text']]);
  assert.deepEqual(await refused({ text: 'a', link: 'javascript:alert(1)' }), [422, ['body.link']]);
  assert.deepEqual(await refused({ text: 'a', series: '{not' }), [422, ['body.series']]);
  assert.deepEqual(await refused({ text: 'a', time: 'now' }), [422, ['body.time']]);
  assert.deepEqual(await refused({ text: 'a', label: {} }), [422, ['body.label']]);
  assert.equal((await send('POST', '/v1/changes', '{"text":')).status, 400);
  assert.equal((await send('POST', '/v1/changes', { text: 'a', tags: ['x'.repeat(70_000)] })).status, 413);
  assert.equal((await send('GET', '/v1/changes?series=a&event=b')).status, 422);
  assert.equal((await send('GET', '/v1/changes?event=unheard')).status, 404);
  assert.equal((await send('GET', '/v1/changes?incident=unheard')).status, 404);
});

test('changes are listed with events and incidents, and in the evidence of what they concern', async () => {
  const { operations, send } = await start();
  const event = anomalyEvent('e1', { series: 'a1', seriesLabels: { service: 'web' }, startedAtMs: BEGIN });
  const named = { ...incident().events[0], eventId: 'e1', series: 'a1', seriesLabels: { service: 'web' } };
  const origins = [{ ...incident().origins[0], series: 'a1' }];
  const one = incident({ incidentId: 'i1', events: [named], origins, startedAtMs: BEGIN });
  await operations.history.append(batchOf({ events: [keptEvent(0, event)], incidents: [keptIncident(0, one)] }));
  const written = [
    { time: BEGIN - 12 * MINUTE_MS, text: 'deploy web 4.2', labels: { service: 'web' } },
    { time: BEGIN - 5 * MINUTE_MS, text: 'new certificates' },
    { time: BEGIN - 4 * 60 * MINUTE_MS, text: 'deploy web 4.1', labels: { service: 'web' } },
    { time: BEGIN - 12 * MINUTE_MS, text: 'deploy cart', labels: { service: 'cart' } },
  ];
  for (const change of written) await send('POST', '/v1/changes', change);
  const near = ['new certificates', 'deploy web 4.2'];
  assert.deepEqual(textsOf(await send('GET', '/v1/changes?event=e1')), near);
  assert.deepEqual(textsOf(await send('GET', '/v1/changes?incident=i1')), near);
  assert.deepEqual(textsOf(await send('GET', '/v1/changes?series=a1')), [...near, 'deploy web 4.1']);
  const shown = (await send('GET', '/v1/incidents/i1')).body.origins[0];
  assert.deepEqual(shown.evidence, [...origins[0].evidence, '12 min after deploy web 4.2']);
});
