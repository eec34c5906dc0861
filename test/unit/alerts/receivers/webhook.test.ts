import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Webhook } from 'standardwebhooks';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';

interface Body {
  readonly type: string;
  readonly data: { readonly text: string; readonly events: readonly object[]; readonly incidents: readonly ToldBody[] };
}
type ToldBody = ReturnType<typeof notifiedIncident> & { readonly dedupKey: string; readonly link: string | null };

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A published schema. */
function schemaOf(name: string) {
  const text = readFileSync(new URL(`../../../../schemas/${name}.schema.json`, import.meta.url), 'utf8');
  return new Ajv({ formats: { 'date-time': true } }).compile(JSON.parse(text));
}

test('a receiver can verify the signature, and a repetition has the same id', async () => {
  const hook = await startHttpReceiver();
  const env = { SECRET, AUTH: 'Bearer token' };
  const { send } = receiverOf(
    `webhook: { url: "${hook.url}/in?a=1", secret_env: SECRET, authorization_env: AUTH }`,
    env,
  );
  const notification = notificationOf([revisionsOf(1).opened]);
  assert.deepEqual(await send(notification), { kind: 'accepted' });
  assert.deepEqual(await send(notification), { kind: 'accepted' });
  const [first, second] = hook.posts;
  assert.equal(first.path, '/in?a=1');
  assert.equal(first.headers.authorization, 'Bearer token');
  assert.equal(first.headers['webhook-id'], notification.id);
  assert.equal(second.headers['webhook-id'], notification.id);
  const verifier = new Webhook(SECRET);
  const payload = verifier.verify(first.body, first.headers as Record<string, string>) as Record<string, unknown>;
  assert.equal(payload.type, 'anomaly.opened');
  assert.throws(() =>
    verifier.verify(first.body.replace('series-1', 'series-2'), first.headers as Record<string, string>),
  );
});

test('the events have the fields of their records, and the key that all messages about one share', async () => {
  const hook = await startHttpReceiver();
  const { send } = receiverOf(`webhook: { url: "${hook.url}" }`);
  const { opened, closed } = revisionsOf(1);
  await send(notificationOf([opened]));
  await send(notificationOf([closed]));
  const [first, second] = hook.posts.map(({ body }) => JSON.parse(body));
  assert.deepEqual(first.data.events, [{ dedupKey: opened.eventId, link: null, ...opened }]);
  assert.equal(second.type, 'anomaly.closed');
  assert.equal(second.data.events[0].dedupKey, opened.eventId);
  assert.equal(second.data.events[0].closeReason, 'recovered');
  assert.equal(hook.posts[0].headers['webhook-signature'], undefined);
});

test('every body follows its schema and that of the events', async () => {
  const [isBody, isEvent] = [schemaOf('alert-webhook'), schemaOf('anomaly-event')];
  const hook = await startHttpReceiver();
  const { send } = receiverOf(`webhook: { url: "${hook.url}" }`);
  const { opened, updated, closed } = revisionsOf(1);
  const group = revisionsOf(2, { series: null, group: 'checkout', members: [{ series: 'a', share: 1 }] }).opened;
  await send(notificationOf([opened]));
  await send(notificationOf([updated]));
  await send(notificationOf([group, closed], { group: 'detector=cpu' }));
  for (const { body } of hook.posts) {
    assert.ok(isBody(JSON.parse(body)), JSON.stringify(isBody.errors));
    for (const { dedupKey, link, ...event } of JSON.parse(body).data.events) {
      assert.deepEqual([dedupKey, link], [event.eventId, null]);
      assert.ok(isEvent(event), JSON.stringify(isEvent.errors));
    }
  }
});

test('only 2xx is an acceptance; what may pass is repeated, the rest is refused', async () => {
  const statuses = [200, 204, 301, 307, 400, 401, 404, 408, 410, 425, 429, 500, 503];
  const hook = await startHttpReceiver((response, _, number) => response.writeHead(statuses[number]).end('because'));
  const { send } = receiverOf(`webhook: { url: "${hook.url}" }`);
  const kinds: Record<number, string> = {};
  for (const status of statuses) kinds[status] = (await send(notificationOf([revisionsOf(1).opened]))).kind;
  assert.deepEqual(kinds, {
    200: 'accepted',
    204: 'accepted',
    301: 'refused',
    307: 'refused',
    400: 'refused',
    401: 'refused',
    404: 'refused',
    408: 'failed',
    410: 'refused',
    425: 'failed',
    429: 'failed',
    500: 'failed',
    503: 'failed',
  });
});

test('a receiver that sends its secrets back does not get them into a log', async () => {
  const hook = await startHttpReceiver((response, { headers, path }) =>
    response.writeHead(400).end(`you sent ${headers.authorization} to ${path} with ${SECRET}\u0007`),
  );
  const env = { SECRET, AUTH: 'Bearer hunter2' };
  const { send } = receiverOf(
    `webhook: { url: "${hook.url}/T0P/S3CRET", secret_env: SECRET, authorization_env: AUTH }`,
    env,
  );
  const outcome = await send(notificationOf([revisionsOf(1).opened]));
  assert.deepEqual(outcome, {
    kind: 'refused',
    reason: 'refused',
    detail: 'status 400: you sent *** to *** with ***',
  });
});

test('a message about an incident has its record, with a key that is that of no event', async () => {
  const [isBody, isIncident] = [schemaOf('alert-webhook'), schemaOf('anomaly-incident')];
  const hook = await startHttpReceiver();
  const { send } = receiverOf(`webhook: { url: "${hook.url}" }`);
  const notified = notifiedIncident();
  await send(incidentNotification(notified));
  await send(incidentNotification({ ...notified, type: 'merged', revision: 2, mergedInto: '00ff' }));
  const bodies: readonly Body[] = hook.posts.map(({ body }) => JSON.parse(body));
  const types = bodies.map(({ type }) => type);
  assert.deepEqual(types, ['incident.opened', 'incident.closed']);
  for (const body of bodies) {
    assert.ok(isBody(body), JSON.stringify(isBody.errors));
    assert.deepEqual(body.data.events, []);
    const [{ dedupKey, link, labels, seriesLabels, ...incident }] = body.data.incidents;
    assert.deepEqual(
      [dedupKey, link, labels, seriesLabels],
      [`incident-${notified.incidentId}`, null, notified.labels, {}],
    );
    assert.ok(isIncident(incident), JSON.stringify(isIncident.errors));
  }
  assert.match(
    bodies[0].data.text,
    /Candidates for the origin\n1\. db-1: first to move, 41 s before the others, 3 moved\n2\. web/,
  );
  assert.match(bodies[1].data.text, /merged into 00ff/);
});
