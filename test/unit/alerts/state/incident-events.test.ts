import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dedupKeyOf } from '../../../../src/alerts/message/subject.ts';
import { END_REPEATED_MS } from '../../../../src/alerts/state/recent-ends.ts';
import type { IncidentEvent } from '../../../../src/records/incident.ts';
import { KeptAlerts, saidBy } from '../../../fixture/alerts/kept-alerts.ts';
import { eventId, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentEvent, incidentLife } from '../../../fixture/alerts/notified-incident.ts';
import { routesOf } from '../../../fixture/alerts/routes.ts';

const RECEIVERS = `receivers:
  - { name: hook, webhook: { url: "https://example.com/a" } }
  - { name: boss, webhook: { url: "https://example.com/b" } }
  - { name: am, alertmanager: { url: "https://example.com/c" } }`;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** A Saturday, 12:00 UTC. */
const NOON = Date.UTC(2026, 4, 2, 12);
const ONE = `incident-${eventId(1)}`;
const TWO = `incident-${eventId(5)}`;

const keptAlerts = (route: string, more = '') =>
  new KeptAlerts(routesOf(`${RECEIVERS}\n${more}\nroutes: [{ name: all, on: incidents, receivers: hook${route} }]`));

test('an incident is notified after the group wait, with the events that joined meanwhile, and at its end', () => {
  const alerts = keptAlerts('');
  const { opened, updated, closed } = incidentLife(1, [1, 2, 3]);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.ingestIncident(updated, NOON + SECOND);
  alerts.state.advance(NOON + 4_999);
  assert.deepEqual(alerts.take(), []);
  alerts.state.advance(NOON + 5_000);
  const [message, ...more] = alerts.take();
  assert.deepEqual([saidBy([message]), more, message.group], [[`hook opened ${ONE}`], [], null]);
  const [notice] = message.notices;
  assert.ok('incident' in notice);
  const ids = notice.incident.events.map((event) => event.eventId);
  assert.deepEqual(ids, [1, 2, 3].map(eventId));
  assert.deepEqual(notice.incident.labels, { team: 'platform' });
  alerts.state.ingestIncident(closed, NOON + MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), [`hook closed ${ONE}`]);
  assert.equal(alerts.state.open, 0);
  const left = [...alerts.kept.keys()].filter((key) => key.includes('incident-event'));
  assert.deepEqual(left, []);
});

test('further revisions go to receivers that replace what they show; with updates to all, once a wait', () => {
  const saidWith = (updates: boolean) => {
    const alerts = keptAlerts(`, updates: ${updates}`);
    alerts.routes = routesOf(
      `${RECEIVERS}\nroutes: [{ name: all, on: incidents, receivers: [hook, am], updates: ${updates} }]`,
    );
    alerts.restart(NOON);
    const { opened, updated } = incidentLife(1, [1, 2]);
    alerts.state.ingestIncident(opened, NOON);
    alerts.state.advance(NOON + MINUTE);
    for (const revision of [1, 2, 3]) alerts.state.ingestIncident({ ...updated, revision }, NOON + MINUTE);
    alerts.state.advance(NOON + 2 * MINUTE);
    alerts.take();
    return saidBy(alerts.sent);
  };
  const opened = [`hook opened ${ONE}`, `am opened ${ONE}`];
  assert.deepEqual(saidWith(false), [...opened, `am updated ${ONE}`]);
  assert.deepEqual(saidWith(true), [...opened, `hook updated ${ONE}`, `am updated ${ONE}`]);
});

test('an incident that is merged before its message is sent with the other one alone', () => {
  const alerts = keptAlerts('');
  const [one, two] = [incidentLife(1, [1, 2]), incidentLife(5, [5, 6], { startedAtMs: NOON })];
  for (const { opened } of [one, two]) alerts.state.ingestIncident(opened, NOON);
  alerts.state.ingestIncident(two.merged(eventId(1)), NOON + SECOND);
  alerts.restart(NOON + SECOND);
  alerts.state.advance(NOON + MINUTE);
  assert.deepEqual(saidBy(alerts.take()), [`hook opened ${ONE}`]);
  assert.equal(alerts.state.open, 1);
});

test('an incident that is merged is closed, and the other one has its events', () => {
  const alerts = keptAlerts('');
  const [one, two] = [incidentLife(1, [1, 2]), incidentLife(5, [5, 6], { startedAtMs: NOON })];
  alerts.state.ingestIncident(one.opened, NOON);
  alerts.state.ingestIncident(two.opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  alerts.restart(NOON + MINUTE);
  alerts.state.ingestIncident(two.merged(eventId(1)), NOON + MINUTE);
  alerts.restart(NOON + MINUTE);
  alerts.state.ingestIncident({ ...one.updated, eventCount: 3 }, NOON + MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  alerts.take();
  assert.deepEqual(saidBy(alerts.sent), [`hook opened ${ONE}`, `hook opened ${TWO}`, `hook closed ${TWO}`]);
  const [last] = alerts.sent.at(-1)!.notices;
  assert.ok('incident' in last && last.incident.mergedInto === eventId(1));
  alerts.state.ingestIncident(one.closed, NOON + 3 * MINUTE);
  alerts.state.advance(NOON + 4 * MINUTE);
  const [closed] = alerts.take()[0].notices;
  assert.ok('incident' in closed);
  assert.deepEqual(new Set(closed.incident.events.map((event) => event.eventId)), new Set([1, 2, 5].map(eventId)));
  const left = [...alerts.kept.keys()].filter((key) => /incident-event|merged-incident/.test(key));
  assert.deepEqual(left, []);
});

test('one event must match all conditions on events; severity, grade and kind of incident are those of the whole', () => {
  const isTold = (match: string, events: readonly IncidentEvent[]) => {
    const alerts = keptAlerts(`, match: ${match}`);
    const { opened } = incidentLife(1, [], { events, severity: 20, grade: 0.8, kind: 'related' });
    alerts.state.ingestIncident({ ...opened, events }, NOON);
    alerts.state.advance(NOON + MINUTE);
    return alerts.take().length > 0;
  };
  const events = [
    incidentEvent(1, { kind: 'dip', labels: { team: 'db' } }),
    incidentEvent(2, { kind: 'spike', series: 'web/errors', labels: { team: 'web' } }),
  ];
  assert.ok(isTold('{ kind: dip, labels: { team: db } }', events));
  assert.ok(isTold('{ series: "web/*", severity_min: 20, grade_min: 0.8, incident_kind: [related, pause] }', events));
  assert.ok(!isTold('{ kind: dip, labels: { team: web } }', events), 'two events, each of which meets one condition');
  assert.ok(!isTold('{ severity_min: 21 }', events));
  assert.ok(!isTold('{ incident_kind: single }', events));
  assert.ok(isTold('{}', []), 'its events were read by nobody');
  assert.ok(!isTold('{ kind: dip }', []));
});

test('an event that joins later brings its incident to the routes that it matches', () => {
  const alerts = new KeptAlerts(
    routesOf(`${RECEIVERS}
routes:
  - { name: db, on: incidents, match: { series: "host-3/*" }, receivers: boss }
  - { name: events, receivers: boss, match: { detector: other } }
  - { name: rest, on: incidents, receivers: hook }`),
  );
  const { opened, updated, closed } = incidentLife(1, [1, 2, 3]);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  alerts.restart(NOON + MINUTE);
  alerts.state.ingestIncident(updated, NOON + MINUTE);
  alerts.state.ingestIncident(closed, NOON + MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  alerts.take();
  assert.deepEqual(saidBy(alerts.sent), [
    `hook opened ${ONE}`,
    `boss opened ${ONE}, closed ${ONE}`,
    `hook closed ${ONE}`,
  ]);
});

test('an incident is muted while all of its events are', () => {
  const windows = 'mute_windows: [{ name: noon, series: "host-[12]/*", time_zone: UTC, from: "12:00", to: "13:00" }]';
  const alerts = keptAlerts(', mute: noon', windows.replace('"host-[12]/*"', '["host-1/*", "host-2/*"]'));
  const { opened, updated } = incidentLife(1, [1, 2, 3]);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  assert.deepEqual(alerts.take(), []);
  alerts.restart(NOON + MINUTE);
  alerts.state.ingestIncident(updated, NOON + MINUTE);
  alerts.state.advance(NOON + MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), [`hook opened ${ONE}`]);
});

test('an incident is muted while people have muted all of its events', () => {
  const alerts = keptAlerts('');
  const { opened, updated } = incidentLife(1, [1, 2, 3]);
  const untilMs = NOON + 60 * MINUTE;
  const mutes = ['host-1/*', 'host-2/*'].map((match) => ({ match, detector: null, untilMs }));
  alerts.state.muted.choose(mutes);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  assert.deepEqual(alerts.take(), []);
  alerts.state.ingestIncident(updated, NOON + MINUTE);
  alerts.state.advance(NOON + MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), [`hook opened ${ONE}`]);
});

test('one receiver may be notified of an event and of the incident that has its id', () => {
  const alerts = new KeptAlerts(
    routesOf(`${RECEIVERS}
routes:
  - { name: whole, on: incidents, receivers: am, group_wait: 0s }
  - { name: each, receivers: am }`),
  );
  const { opened, closed } = incidentLife(1, [1, 2]);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.ingest(revisionsOf(1).opened, NOON);
  alerts.state.advance(NOON);
  assert.deepEqual(saidBy(alerts.take()).sort(), [`am opened ${ONE}`, 'am opened series-1']);
  assert.equal(alerts.state.repeatedTo('am').length, 2);
  alerts.state.ingest(revisionsOf(1).closed, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['am closed series-1']);
  alerts.state.ingestIncident(closed, NOON);
  alerts.state.advance(NOON);
  assert.deepEqual(saidBy(alerts.take()), [`am closed ${ONE}`]);
});

test('an open alert and, for 15 minutes, an end are repeated where a receiver needs it, also after a restart', () => {
  const alerts = new KeptAlerts(
    routesOf(`${RECEIVERS}
routes:
  - { name: whole, on: incidents, receivers: [am, hook], group_wait: 0s }
  - { name: each, receivers: [am, hook] }`),
  );
  const { opened, closed } = incidentLife(1, [1, 2]);
  const repeated = () => alerts.state.repeatedTo('am').map((notice) => [notice.type, dedupKeyOf(notice)]);
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.ingest(revisionsOf(1).opened, NOON);
  alerts.state.advance(NOON);
  alerts.state.ingest(revisionsOf(1).closed, NOON + MINUTE);
  assert.deepEqual(repeated().sort(), [
    ['closed', eventId(1)],
    ['updated', ONE],
  ]);
  alerts.state.ingestIncident(closed, NOON + 2 * MINUTE);
  alerts.state.advance(NOON + 2 * MINUTE);
  alerts.restart(NOON + 2 * MINUTE);
  assert.deepEqual(repeated().sort(), [
    ['closed', eventId(1)],
    ['closed', ONE],
  ]);
  assert.deepEqual(alerts.state.repeatedTo('hook'), []);
  alerts.state.advance(NOON + MINUTE + END_REPEATED_MS);
  assert.deepEqual(repeated(), [['closed', ONE]]);
  alerts.state.advance(NOON + 2 * MINUTE + END_REPEATED_MS);
  assert.deepEqual(repeated(), []);
});

test('a route that is on events from now on still closes its incidents; then incidents are not read any more', () => {
  const alerts = keptAlerts('');
  const { opened, closed } = incidentLife(1, [1, 2]);
  alerts.state.incidentPlace.moveTo({ topicId: 'a', positions: new Map([[0, 7]]) });
  alerts.state.ingestIncident(opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  const routes = routesOf(`${RECEIVERS}\nroutes: [{ name: all, receivers: hook }]`);
  alerts.restart(NOON + MINUTE, routes);
  assert.ok(alerts.state.readsIncidents);
  alerts.state.ingestIncident(closed, NOON + MINUTE);
  alerts.take();
  assert.deepEqual(saidBy(alerts.sent), [`hook opened ${ONE}`, `hook closed ${ONE}`]);
  alerts.restart(NOON + MINUTE, routes);
  assert.ok(!alerts.state.readsIncidents);
  assert.equal(alerts.state.incidentPlace.get(), null);
});

test('an incident of thousands of events is kept as small as a record of Kafka must be', () => {
  const alerts = keptAlerts('');
  const labels = { note: 'x'.repeat(10_000) };
  const events = Array.from({ length: 1_000 }, (_, i) => incidentEvent(i, { labels }));
  alerts.state.ingestIncident({ ...incidentLife(1, []).opened, events }, NOON);
  alerts.state.advance(NOON + MINUTE);
  const [message] = alerts.take();
  assert.ok(JSON.stringify(message).length < 128 * 1024);
  assert.ok('incident' in message.notices[0] && message.notices[0].incident.events.length > 0);
});
