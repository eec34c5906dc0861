/** Laws of alerting, for any events at any times, however often it is restarted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dedupKeyOf } from '../../../src/alerts/message/subject.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { KeptAlerts } from '../../fixture/alerts/kept-alerts.ts';
import { eventId, revisionsOf } from '../../fixture/alerts/notification.ts';
import { incidentLife } from '../../fixture/alerts/notified-incident.ts';
import { routesOf } from '../../fixture/alerts/routes.ts';
import { fc } from '../../fixture/fast-check.ts';

const ROUTES = routesOf(`
receivers:
  - { name: a, webhook: { url: "https://example.com/a" } }
  - { name: b, webhook: { url: "https://example.com/b" } }
mute_windows: [{ name: often, time_zone: UTC, from: "00:10", to: "00:20" }]
routes:
  - { name: plain, receivers: a, continue: true, updates: true }
  - { name: grouped, receivers: [a, b], group_by: detector, group_wait: 2min, continue: true }
  - { name: whole, on: incidents, receivers: [a, b], updates: true, match: { series: host-2/* } }
  - { name: quiet, receivers: b, cool_down: 7min, mute: often, group_by: kind, group_wait: 1min }
`);
const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

interface Step {
  readonly kind: 'event' | 'wait' | 'restart';
  readonly event: number;
  readonly minutes: number;
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('event', 'event', 'wait', 'restart'),
    event: fc.integer({ min: 0, max: 5 }),
    minutes: fc.integer({ min: 0, max: 9 }),
  }),
  { maxLength: 60 },
);

/** Runs the steps; every event goes through its revisions, and then the next one of its series begins. */
function run(all: readonly Step[], restarts: boolean): KeptAlerts {
  const alerts = new KeptAlerts(ROUTES);
  const waiting = new Map<number, AnomalyEvent[]>();
  let [nowMs, lives] = [START, 0];
  for (const { kind, event, minutes } of all) {
    if (kind === 'wait') nowMs += minutes * MINUTE;
    if (kind === 'restart' && restarts) alerts.restart(nowMs);
    if (kind === 'event') {
      const left = waiting.get(event) ?? [];
      if (left.length === 0) {
        const detector = `d${event % 2}`;
        left.push(...Object.values(revisionsOf(event + 100 * lives++, { series: `s${event}`, detector })));
      }
      alerts.state.ingest(left.shift()!, nowMs);
      waiting.set(event, left);
    }
    alerts.state.advance(nowMs);
    alerts.take();
  }
  return alerts;
}

/** Messages of different events may change places. */
const byId = ({ sent }: KeptAlerts) => sent.toSorted((one, other) => (one.id < other.id ? -1 : 1));

test('a restart at any moment changes no notification', () => {
  fc.assert(
    fc.property(steps, (all) => {
      assert.deepEqual(byId(run(all, true)), byId(run(all, false)));
    }),
    { numRuns: 300 },
  );
});

test('each receiver gets the revisions of an event in order: opened before closed, closed once, nothing after it', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const received = new Map<string, string[]>();
      for (const { receiver, route, notices } of run(all, true).sent) {
        for (const notice of notices) {
          const key = `${receiver} ${route} ${dedupKeyOf(notice)}`;
          received.set(key, [...(received.get(key) ?? []), notice.type]);
        }
      }
      for (const [key, types] of received) {
        assert.equal(types[0], 'opened', key);
        const closed = types.indexOf('closed');
        assert.ok(closed === -1 || closed === types.length - 1, `${key}: ${types}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('no two notifications have one id', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const ids = run(all, true).sent.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
    }),
  );
});

/** Two incidents of three events each, the second of which is merged into the first, and closed. */
function incidentLives() {
  const [one, two] = [incidentLife(1, [1, 2, 3]), incidentLife(4, [4, 5, 6])];
  const after = { ...one.updated, revision: 2, events: [], eventCount: 6 };
  return [
    one.opened,
    two.opened,
    two.updated,
    one.updated,
    two.merged(eventId(1)),
    after,
    { ...one.closed, revision: 3 },
  ];
}

test('neither the order between events and incidents nor a restart matters', () => {
  const events = [1, 2, 3, 4].flatMap((number) => Object.values(revisionsOf(number, { series: `host-${number}/cpu` })));
  const notified = (isEventNext: readonly boolean[], restartAt: number) => {
    const alerts = new KeptAlerts(ROUTES);
    const [left, incidents] = [[...events], incidentLives()];
    for (let i = 0; left.length + incidents.length > 0; i++) {
      const isEvent = incidents.length === 0 || (left.length > 0 && isEventNext[i % isEventNext.length]);
      if (isEvent) alerts.state.ingest(left.shift()!, START);
      else alerts.state.ingestIncident(incidents.shift()!, START);
      if (i === restartAt) alerts.restart(START);
    }
    alerts.state.advance(START + 60 * MINUTE);
    alerts.take();
    return byId(alerts).map(({ id, notices }) => ({ id, notices }));
  };
  const inOrder = notified([true], -1);
  assert.ok(inOrder.flatMap(({ notices }) => notices).length > 20);
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), fc.nat(20), (order, restartAt) => {
      assert.deepEqual(notified(order, restartAt), inOrder);
    }),
    { numRuns: 200 },
  );
});
