import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';

const KEY = '0123456789abcdef0123456789ABCDEF';

/** The documented fields of Events API v2: name, required, most characters. */
const FIELDS = ['routing_key', 'event_action', 'dedup_key', 'payload', 'images', 'links', 'client', 'client_url'];
const PAYLOAD_FIELDS = ['summary', 'source', 'severity', 'timestamp', 'component', 'group', 'class', 'custom_details'];

function checkDocumented(body: Record<string, unknown>): void {
  const unknown = Object.keys(body).filter((name) => !FIELDS.includes(name));
  assert.deepEqual(unknown, []);
  assert.match(String(body.routing_key), /^[a-zA-Z0-9]{32}$/);
  assert.ok(['trigger', 'acknowledge', 'resolve'].includes(String(body.event_action)));
  assert.ok(String(body.dedup_key).length > 0 && String(body.dedup_key).length <= 255);
  if (body.event_action !== 'trigger') return;
  const payload = body.payload as Record<string, unknown>;
  const unknownOfPayload = Object.keys(payload).filter((name) => !PAYLOAD_FIELDS.includes(name));
  assert.deepEqual(unknownOfPayload, []);
  assert.ok(String(payload.summary).length > 0 && String(payload.summary).length <= 1_024);
  assert.ok(String(payload.source).length > 0);
  assert.ok(['critical', 'error', 'warning', 'info'].includes(String(payload.severity)));
  assert.equal(new Date(String(payload.timestamp)).toISOString(), payload.timestamp);
}

async function sentFor(...events: Parameters<typeof notificationOf>[0]) {
  const duty = await startHttpReceiver();
  const { send } = receiverOf(`pagerduty: { url: "${duty.url}/v2/enqueue", routing_key_env: KEY }`, { KEY });
  assert.equal((await send(notificationOf(events))).kind, 'accepted');
  assert.ok(duty.posts.every(({ path }) => path === '/v2/enqueue'));
  return duty.posts.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

test('an event triggers an incident, and its end resolves the same one', async () => {
  const { opened, updated, closed } = revisionsOf(1, { grade: 0.95 });
  const bodies = await sentFor(opened, updated, closed);
  for (const body of bodies) checkDocumented(body);
  const actual = bodies.map(({ event_action, dedup_key }) => [event_action, dedup_key]);
  assert.deepEqual(actual, [
    ['trigger', opened.eventId],
    ['trigger', opened.eventId],
    ['resolve', opened.eventId],
  ]);
  const { summary, severity, source } = bodies[0].payload as Record<string, unknown>;
  assert.deepEqual([summary, severity, source], ['[opened] spike in series-1', 'critical', 'series-1']);
});

test('any event keeps to the documented fields and lengths', async () => {
  const hostile = '\u202e\n'.repeat(3_000);
  const events = [
    revisionsOf(1, { series: hostile, summary: hostile.repeat(10), labels: { a: hostile } }).opened,
    revisionsOf(2, { series: null, group: 'g'.repeat(5_000), kind: 'silence', severity: null, grade: null }).opened,
    revisionsOf(3, { series: '', value: null, expected: null }).opened,
  ];
  for (const body of await sentFor(...events)) checkDocumented(body);
});

test('a message of several events that fails at one of them is repeated', async () => {
  const duty = await startHttpReceiver((response, _, number) => response.writeHead(number === 1 ? 429 : 202).end());
  const { send } = receiverOf(`pagerduty: { url: "${duty.url}", routing_key_env: KEY }`, { KEY });
  const message = notificationOf([revisionsOf(1).opened, revisionsOf(2).opened]);
  assert.equal((await send(message)).kind, 'failed');
  assert.equal((await send(message)).kind, 'accepted');
  assert.equal(duty.posts.length, 4);
});

test('an incident has one key in all of its messages, the severity of its worst event, and its origins', async () => {
  const duty = await startHttpReceiver();
  const { send } = receiverOf(`pagerduty: { url: "${duty.url}", routing_key_env: KEY }`, { KEY });
  const notified = notifiedIncident({ grade: 0.95 });
  for (const type of ['opened', 'updated', 'closed'] as const) await send(incidentNotification({ ...notified, type }));
  const bodies = duty.posts.map(({ body }) => JSON.parse(body));
  for (const body of bodies) checkDocumented(body);
  const acts = bodies.map(({ event_action, dedup_key }) => [event_action, dedup_key]);
  const expected = ['trigger', 'trigger', 'resolve'].map((action) => [action, `incident-${notified.incidentId}`]);
  assert.deepEqual(acts, expected);
  const { severity, source, component, custom_details: details } = bodies[0].payload;
  assert.deepEqual([severity, source, component, details.events], ['critical', 'db-1', 'cpu', 40]);
  assert.deepEqual(details.may_have_begun_in, [
    'db-1: first to move, 41 s before the others, 3 moved',
    'web/errors',
    'cart: cart/cpu is far out',
  ]);
});
