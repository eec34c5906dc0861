import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptAlerts, saidBy } from '../../../fixture/alerts/kept-alerts.ts';
import { eventOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { routesOf } from '../../../fixture/alerts/routes.ts';

const RECEIVERS =
  'receivers: [{ name: hook, webhook: { url: "https://example.com/a" } }, { name: boss, webhook: { url: "https://example.com/b" } }]';
const MINUTE = 60_000;
/** A Saturday, 12:00 UTC. */
const NOON = Date.UTC(2026, 4, 2, 12);

const keptAlerts = (route: string, more = '') =>
  new KeptAlerts(routesOf(`${RECEIVERS}\n${more}\nroutes: [{ name: all, receivers: hook${route} }]`));

test('receivers are notified when an event opens and when it closes, once each', () => {
  const alerts = keptAlerts('');
  const { opened, updated, closed } = revisionsOf(1);
  for (const event of [opened, opened, updated, closed, closed]) alerts.state.ingest(event, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-1', 'hook closed series-1']);
  assert.equal(alerts.state.open, 0);
});

test('with updates receivers are notified of every revision', () => {
  const alerts = keptAlerts(', updates: true');
  for (const event of Object.values(revisionsOf(1))) alerts.state.ingest(event, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-1', 'hook updated series-1', 'hook closed series-1']);
});

test('an event whose opening was not read is notified at its next revision, but not at its end', () => {
  const alerts = keptAlerts('');
  alerts.state.ingest(revisionsOf(1).updated, NOON);
  alerts.state.ingest(revisionsOf(2).closed, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-1']);
});

test('an event that becomes more severe reaches the route of severe ones, and is closed on both', () => {
  const alerts = new KeptAlerts(
    routesOf(`${RECEIVERS}
routes:
  - { name: severe, receivers: boss, match: { severity_min: 50 } }
  - { name: rest, receivers: hook }`),
  );
  const { opened, updated, closed } = revisionsOf(1, { severity: 10 });
  alerts.state.ingest(opened, NOON);
  alerts.state.ingest({ ...updated, severity: 60 }, NOON);
  alerts.state.ingest({ ...closed, severity: 60 }, NOON);
  assert.deepEqual(saidBy(alerts.take()), [
    'hook opened series-1',
    'boss opened series-1',
    'boss closed series-1',
    'hook closed series-1',
  ]);
});

test('events of a group come in one message, also where one of them closed meanwhile', () => {
  const alerts = keptAlerts(', group_by: detector, group_wait: 30s');
  const [one, two, other] = [revisionsOf(1), revisionsOf(2), revisionsOf(3, { detector: 'memory' })];
  alerts.state.ingest(one.opened, NOON);
  alerts.state.ingest(two.opened, NOON + 10_000);
  alerts.state.ingest(two.closed, NOON + 20_000);
  alerts.state.ingest(other.opened, NOON + 20_000);
  alerts.state.advance(NOON + 29_999);
  assert.deepEqual(alerts.take(), []);
  alerts.state.advance(NOON + 30_000);
  const [message, ...more] = alerts.take();
  assert.deepEqual(saidBy([message]), ['hook opened series-1, opened series-2, closed series-2']);
  assert.deepEqual([message.group, more], ['detector=cpu', []]);
  alerts.state.advance(NOON + 50_000);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-3']);
  alerts.state.ingest(one.closed, NOON + 60_000);
  alerts.state.advance(NOON + 90_000);
  assert.deepEqual(saidBy(alerts.take()), ['hook closed series-1']);
});

test('a message has a hundred events at most', () => {
  const alerts = keptAlerts(', group_by: detector, group_wait: 30s');
  for (let number = 0; number < 250; number++) alerts.state.ingest(revisionsOf(number).opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  const sizes = alerts.take().map(({ notices }) => notices.length);
  assert.deepEqual(sizes, [100, 100, 50]);
});

test('a message is as small as a record of Kafka must be, and no event is larger', () => {
  const alerts = keptAlerts(', group_by: detector, group_wait: 30s');
  const members = Array.from({ length: 5_000 }, (_, i) => ({ series: `member-${i}`, share: 1 / 5_000 }));
  for (let number = 0; number < 20; number++) {
    alerts.state.ingest(revisionsOf(number, { members, summary: 'x'.repeat(40_000) }).opened, NOON);
  }
  alerts.state.ingest(revisionsOf(99, { series: 'y'.repeat(70_000) }).opened, NOON);
  alerts.state.advance(NOON + MINUTE);
  const messages = alerts.take();
  assert.equal(messages.flatMap(({ notices }) => notices).length, 20);
  for (const message of messages) assert.ok(JSON.stringify(message).length < 256 * 1024);
  assert.equal(eventOf(messages[0].notices[0]).members.length, 20);
  assert.deepEqual(alerts.suppressed, ['too-large']);
});

test('within the cool-down of a series a new event waits, and is dropped if it closes before', () => {
  const alerts = keptAlerts(', cool_down: 10min');
  const [first, second, third] = [1, 2, 3].map((number) => revisionsOf(number, { series: 'web' }));
  alerts.state.ingest(first.opened, NOON);
  alerts.state.ingest(first.closed, NOON + MINUTE);
  alerts.state.ingest(second.opened, NOON + 2 * MINUTE);
  alerts.state.ingest(revisionsOf(9, { series: 'other' }).opened, NOON + 2 * MINUTE);
  alerts.state.ingest(second.closed, NOON + 3 * MINUTE);
  alerts.state.ingest(third.opened, NOON + 4 * MINUTE);
  alerts.state.advance(NOON + 10 * MINUTE - 1);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened web', 'hook closed web', 'hook opened other']);
  alerts.state.advance(NOON + 10 * MINUTE);
  const [late] = alerts.take();
  assert.equal(eventOf(late.notices[0]).eventId, third.opened.eventId);
  assert.deepEqual(alerts.suppressed, ['cool-down', 'cool-down']);
});

test('in a mute window nothing new is notified; what is open at its end is notified then', () => {
  const windows = 'mute_windows: [{ name: noon, time_zone: UTC, from: "12:00", to: "13:00" }]';
  const alerts = keptAlerts(', mute: noon', windows);
  const [before, brief, long] = [revisionsOf(1), revisionsOf(2), revisionsOf(3)];
  alerts.state.ingest(before.opened, NOON - 1);
  alerts.state.ingest(brief.opened, NOON);
  alerts.state.ingest(long.opened, NOON + MINUTE);
  alerts.state.ingest(brief.closed, NOON + 2 * MINUTE);
  alerts.state.ingest(before.closed, NOON + 3 * MINUTE);
  alerts.state.advance(NOON + 59 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-1', 'hook closed series-1']);
  alerts.state.advance(NOON + 60 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-3']);
});

test('a mute window of some series mutes no event of others', () => {
  const windows = `mute_windows: [{ name: noon, series: '{job="a"}', time_zone: UTC, from: "12:00", to: "13:00" }]`;
  const alerts = keptAlerts(', mute: noon', windows);
  alerts.state.ingest(revisionsOf(1, { series: 'up{job="a"}' }).opened, NOON);
  alerts.state.ingest(revisionsOf(2, { series: 'up{job="b"}' }).opened, NOON);
  alerts.state.ingest(revisionsOf(3, { series: null, group: null, kind: 'silence' }).opened, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened up{job="b"}', 'hook opened null']);
});

test('what people muted is not notified until the mute ends, on every route', () => {
  const alerts = keptAlerts('');
  const notified = revisionsOf(1, { series: 'up{job="a"}' });
  alerts.state.ingest(notified.opened, NOON);
  alerts.state.muted.choose([{ match: '{job="a"}', detector: null, untilMs: NOON + 60 * MINUTE }]);
  alerts.state.ingest(revisionsOf(2, { series: 'down{job="a"}' }).opened, NOON);
  alerts.state.ingest(revisionsOf(3, { series: 'up{job="b"}' }).opened, NOON + 50 * MINUTE);
  alerts.state.advance(NOON + 59 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened up{job="a"}', 'hook opened up{job="b"}']);
  alerts.state.advance(NOON + 60 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()).sort(), ['hook opened down{job="a"}']);
  alerts.state.muted.choose([{ match: null, detector: notified.opened.detector, untilMs: NOON + 99 * MINUTE }]);
  alerts.state.ingest(revisionsOf(4).opened, NOON + 61 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), []);
  alerts.state.muted.choose([]);
  alerts.state.advance(NOON + 62 * MINUTE);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-4']);
});

test('an event that is older than the age limit when it arrives is not notified', () => {
  const alerts = keptAlerts(', age_limit: 1d');
  alerts.state.ingest(revisionsOf(1, { updatedAtMs: NOON - 86_400_001 }).opened, NOON);
  alerts.state.ingest(revisionsOf(2, { updatedAtMs: NOON - 86_400_000 }).opened, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['hook opened series-2']);
  assert.deepEqual(alerts.suppressed, ['age']);
});

test('a route that was removed still closes what it notified, to the receivers that are left', () => {
  const alerts = keptAlerts('');
  alerts.state.ingest(revisionsOf(1).opened, NOON);
  alerts.restart(NOON, routesOf(`${RECEIVERS}\nroutes: [{ name: new, receivers: boss }]`));
  alerts.state.ingest(revisionsOf(1).updated, NOON);
  alerts.state.ingest(revisionsOf(1).closed, NOON);
  alerts.take();
  assert.deepEqual(saidBy(alerts.sent), [
    'hook opened series-1',
    'boss opened series-1',
    'boss closed series-1',
    'hook closed series-1',
  ]);
});

test('notifications of a receiver that is gone become dead letters', () => {
  const both = `${RECEIVERS}\nroutes: [{ name: all, receivers: [hook, boss] }]`;
  const alerts = new KeptAlerts(routesOf(both));
  alerts.state.ingest(revisionsOf(1).opened, NOON);
  alerts.restart(
    NOON,
    routesOf(`receivers: [{ name: boss, webhook: { url: "https://example.com/b" } }]
routes: [{ name: all, receivers: boss }]`),
  );
  alerts.state.ingest(revisionsOf(1).closed, NOON);
  assert.deepEqual(saidBy(alerts.take()), ['boss closed series-1']);
  const dead = alerts.state.outbox.deadLetters().map(({ notification, reason }) => [...saidBy([notification]), reason]);
  assert.deepEqual(dead, [
    ['hook opened series-1', 'receiver-removed'],
    ['hook closed series-1', 'receiver-removed'],
  ]);
});

test('a state of a newer version is refused, with both formats', () => {
  const alerts = keptAlerts('');
  alerts.take();
  alerts.state.restore('something/new', '1');
  assert.throws(() => alerts.state.restore('format', '4'), {
    code: 'kept-by-newer',
    message:
      'the state of the alerts has format 4, and this version reads formats 1 to 3: run the version that wrote it',
  });
  assert.throws(() => alerts.state.restored(0), {
    code: 'kept-by-newer',
    message: /does not know, something\/new: run/,
  });
});
