import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Incident } from '../../../src/records/incident.ts';
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

const NOW = START_MS + 120 * MINUTE_MS;
const BEGIN = START_MS + 90 * MINUTE_MS;
const SERIES = ['db-1/latency', 'web-1/errors'];

const eventId = (of: string, series: string) => `${of}-${series.replace('/', '-')}`;

function incidentOf(id: string, series: readonly string[], changes: Partial<Incident> = {}): Incident {
  const { startedAtMs = BEGIN } = changes;
  return incident({
    incidentId: id,
    eventCount: series.length,
    seriesCount: series.length,
    events: series.map((each, i) => {
      const beganMs = startedAtMs + i * MINUTE_MS;
      return { ...incident().events[0], eventId: eventId(id, each), series: each, startedAtMs: beganMs };
    }),
    startedAtMs,
    ...changes,
  });
}

/** Two series with events of an incident, and one of another incident. */
async function start() {
  const { operations, send } = await startOperations(() => NOW);
  const incidents = [
    incidentOf('before', SERIES, { startedAtMs: START_MS, type: 'closed', revision: 1, endedAtMs: START_MS + 1 }),
    incidentOf('now', SERIES),
    incidentOf('mail', ['mail-1/queue'], { kind: 'single' }),
  ];
  const events = [
    anomalyEvent(eventId('now', SERIES[0]), { series: SERIES[0], startedAtMs: BEGIN }),
    anomalyEvent(eventId('now', SERIES[1]), { series: SERIES[1], startedAtMs: BEGIN + MINUTE_MS }),
    anomalyEvent(eventId('mail', 'mail-1/queue'), { series: 'mail-1/queue', startedAtMs: BEGIN }),
  ];
  await operations.history.append(
    batchOf({
      events: events.map((event, i) => keptEvent(i, event)),
      incidents: incidents.map((each, i) => keptIncident(i, each)),
    }),
  );
  return { operations, send };
}

test('incidents are listed with filters as events are, a page after the other', async () => {
  const { send } = await start();
  const ids = async (query: string) => {
    const { body } = await send('GET', `/v1/incidents${query}`);
    return body.incidents.map(({ incidentId }: { incidentId: string }) => incidentId);
  };
  assert.deepEqual(await ids(''), ['mail', 'now', 'before']);
  assert.deepEqual(await ids('?open=true&single=false'), ['now']);
  assert.deepEqual(await ids('?match=mail-*'), ['mail']);
  assert.deepEqual(await ids('?detector=cpu&kind=single'), ['mail']);
  assert.deepEqual(await ids(`?from=${START_MS}&to=${START_MS + 2}`), ['before']);
  const first = (await send('GET', '/v1/incidents?limit=2')).body;
  assert.deepEqual([first.total_open, first.incidents.length], [2, 2]);
  assert.deepEqual(await ids(`?limit=2&cursor=${first.next_cursor}`), ['before']);
  assert.equal((await send('GET', '/v1/incidents?single=false')).body.total_open, 1);
  const refused = await send('GET', '/v1/incidents?match=%7Bnot&cursor=x');
  assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['query', 'match']]);
  const [{ events, ...listed }] = (await send('GET', '/v1/incidents?single=false')).body.incidents;
  assert.equal(events, undefined, 'a list has no events');
  assert.deepEqual(listed.openedOrigins, incident().openedOrigins);
});

test('an incident has its events, the origins of its record, and what was like it', async () => {
  const { send } = await start();
  const { body } = await send('GET', '/v1/incidents/now');
  const eventIds = body.events.map((event: { eventId: string }) => event.eventId);
  const expected = SERIES.map((series) => eventId('now', series));
  assert.deepEqual(eventIds, expected);
  assert.deepEqual([body.openedOrigins, body.origins], [incident().openedOrigins, incident().origins]);
  assert.equal(body.summary, incident().summary);
  const [like, ...more] = body.similar;
  assert.deepEqual([like.incident.incidentId, like.commonSeries, more], ['before', 2, []]);
  assert.equal((await send('GET', '/v1/incidents/unheard')).status, 404);
});

test('an event names its incident, and events are listed by it', async () => {
  const { send } = await start();
  const { events } = (await send('GET', '/v1/events?incident=now')).body;
  const actual = events.map((event: { eventId: string; incidentId: string }) => [event.eventId, event.incidentId]);
  assert.deepEqual(actual, [
    [eventId('now', SERIES[1]), 'now'],
    [eventId('now', SERIES[0]), 'now'],
  ]);
  assert.equal((await send('GET', `/v1/events/${eventId('mail', 'mail-1/queue')}`)).body.incidentId, 'mail');
});

test('an incident is acknowledged and muted with its events, also with those that join later', async () => {
  const { operations, send } = await start();
  const until = NOW + MINUTE_MS;
  assert.equal((await send('POST', '/v1/incidents/now/mute', { until })).status, 422, 'a mute needs a reason');
  await send('POST', '/v1/incidents/now/mute', { until, reason: 'release' });
  const { body } = await send('POST', '/v1/incidents/now/acknowledge', { note: 'looking' });
  const acknowledged = { at: NOW, by: 'ann', note: 'looking' };
  const muted = { at: NOW, by: 'ann', until, reason: 'release' };
  assert.deepEqual(body, { incidentId: 'now', acknowledged, muted, verdicts: [] });
  const late = incidentOf('now', ['late'], { type: 'updated', revision: 1 });
  await operations.history.append(
    batchOf({
      events: [keptEvent(9, anomalyEvent(eventId('now', 'late'), { series: 'late' }))],
      incidents: [keptIncident(9, late)],
    }),
  );
  const { events } = (await send('GET', '/v1/events?incident=now')).body;
  const actual = events.map((event: typeof body) => [event.acknowledged, event.muted]);
  const expected = [1, 2, 3].map(() => [acknowledged, { ...muted, mute_id: null }]);
  assert.deepEqual(actual, expected);
  await send('POST', '/v1/incidents/now/acknowledge', { acknowledged: false });
  assert.equal((await send('GET', '/v1/events?incident=now&acknowledged=true')).body.events.length, 0);
});

test('feedback on a merged incident counts for the incident it was merged into, until that is reviewed', async () => {
  const { operations, send } = await start();
  const verdict = { verdict: 'origin', subject: 'db-1' };
  await send('POST', '/v1/incidents/now/acknowledge', { note: 'looking' });
  await send('POST', '/v1/incidents/now/mute', { until: NOW + MINUTE_MS, reason: 'release' });
  await send('POST', '/v1/incidents/now/verdict', verdict);
  const merged = incidentOf('now', [], { type: 'merged', revision: 1, mergedInto: 'mail' });
  await operations.history.append(batchOf({ incidents: [keptIncident(9, merged)] }));
  const acts = ({ acknowledged, muted, verdicts }: { acknowledged: unknown; muted: object; verdicts: object[] }) => [
    acknowledged,
    muted !== null,
    verdicts.length,
  ];
  const acknowledged = { at: NOW, by: 'ann', note: 'looking' };
  const [listed] = (await send('GET', '/v1/incidents')).body.incidents;
  assert.deepEqual([listed.incidentId, ...acts(listed)], ['mail', acknowledged, true, 1]);
  assert.deepEqual(acts((await send('GET', '/v1/incidents/now')).body), [acknowledged, true, 1]);
  const { events } = (await send('GET', '/v1/events?incident=mail&acknowledged=true')).body;
  assert.equal(events.length, 3);
  assert.deepEqual(acts((await send('POST', '/v1/incidents/mail/verdict', verdict)).body), [acknowledged, true, 1]);
  assert.deepEqual((await send('GET', '/v1/incidents/mail')).body.confirmed, [{ subject: 'db-1', incidents: 1 }]);
  await send('POST', '/v1/incidents/mail/verdict', { ...verdict, given: false });
  await send('POST', '/v1/incidents/mail/mute', { until: null });
  const { body } = await send('POST', '/v1/incidents/mail/acknowledge', { acknowledged: false });
  assert.deepEqual(acts(body), [null, false, 0]);
});

test('verdicts are shown and counted; what is no part of the incident is refused', async () => {
  const { send } = await start();
  const judge = (id: string, body: object) => send('POST', `/v1/incidents/${id}/verdict`, body);
  const origin = { verdict: 'origin', subject: 'db-1' };
  await judge('before', origin);
  await judge('now', { ...origin, note: 'disk' });
  const alien = { verdict: 'not-related', subject: eventId('now', SERIES[1]) };
  const { body } = await judge('now', alien);
  const given = { at: NOW, by: 'ann' };
  const both = [
    { ...alien, ...given, note: null },
    { ...origin, ...given, note: 'disk' },
  ];
  assert.deepEqual(body.verdicts, both);
  const shown = (await send('GET', '/v1/incidents/now')).body;
  assert.deepEqual([shown.verdicts, shown.confirmed], [both, [{ subject: 'db-1', incidents: 2 }]]);
  assert.deepEqual((await judge('now', { ...alien, given: false })).body.verdicts, both.slice(1));
  const refused = await judge('now', { verdict: 'not-related', subject: eventId('mail', 'mail-1/queue') });
  assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ['body', 'subject']]);
});
