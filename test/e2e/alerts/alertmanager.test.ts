/** A real Alertmanager: any on the path, or Debian's package. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import { startAlertmanager, whyNoAlertmanager } from '../../fixture/alerts/alertmanager.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { KeptAlerts } from '../../fixture/alerts/kept-alerts.ts';
import { noticeOf, notificationOf, revisionsOf } from '../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../fixture/alerts/open-receiver.ts';
import { routesOf } from '../../fixture/alerts/routes.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { until } from '../../fixture/until.ts';

interface Notified {
  readonly status: 'firing' | 'resolved';
  readonly alerts: readonly { readonly status: string; readonly labels: Readonly<Record<string, string>> }[];
}

const isHere = whyNoAlertmanager === null;
const law = 'Alertmanager shows an event while it is open, notifies once, and resolves it when it closes';

test(isHere ? law : `${law} (skipped: ${whyNoAlertmanager})`, {
  skip: !isHere,
}, async (t) => {
  const hook = await startHttpReceiver();
  const { url, alerts } = await startAlertmanager(t, { webhook: hook.url });
  const notified = () => hook.posts.map(({ body }) => JSON.parse(body) as Notified);
  const { send } = receiverOf(`alertmanager: { url: "${url}" }`);
  const { opened, updated, closed } = revisionsOf(1, {
    labels: { team: 'shop', 'k8s.io/app': 'cart' },
    series: 'web-1/<b>"latency"\n',
  });
  assert.deepEqual(await send(notificationOf([opened])), { kind: 'accepted' });
  await until('it is notified', () => notified().length === 1);
  const [{ labels, annotations, status }] = await alerts();
  assert.equal(status.state, 'active');
  assert.deepEqual(labels, {
    alertname: 'Anomaly',
    detector: 'cpu',
    series: 'web-1/<b>"latency"',
    kind: 'spike',
    severity: 'warning',
    event_id: opened.eventId,
    team: 'shop',
    k8s_io_app: 'cart',
  });
  assert.match(annotations.summary, /99 where 42 was expected/);
  // Told again, and as what it turned out to be: still one alert.
  const { opening } = noticeOf(opened);
  const later = { type: 'updated', event: { ...updated, kind: 'level_shift', grade: 0.99 }, opening } as const;
  assert.deepEqual(await send(notificationOf([updated], { notices: [later] })), { kind: 'accepted' });
  assert.equal((await alerts()).length, 1);
  assert.deepEqual(await send(notificationOf([closed])), { kind: 'accepted' });
  await until('it is resolved', () => notified().some((message) => message.status === 'resolved'));
  assert.deepEqual(await alerts(), []);
  const statuses = notified().map((message) => message.status);
  assert.deepEqual(statuses, ['firing', 'resolved']);
});

const restartLaw = 'Alertmanager resolves an event whose end it lost in a restart, once the end is repeated';

test(isHere ? restartLaw : `${restartLaw} (skipped: ${whyNoAlertmanager})`, {
  skip: !isHere,
}, async (t) => {
  const hook = await startHttpReceiver();
  const options = { webhook: hook.url, folder: freshFolder(), groupInterval: '1h' };
  const first = await startAlertmanager(t, options);
  const { address } = first;
  const target = `alertmanager: { url: "http://${address}" }`;
  const routes = `allow_private: [127.0.0.1]\nreceivers: [{ name: it, ${target} }]\nroutes: [{ name: all, receivers: it }]`;
  const kept = new KeptAlerts(routesOf(routes));
  const { send } = receiverOf(target);
  const { opened, closed } = revisionsOf(1);
  const post = (event: AnomalyEvent) => {
    kept.state.ingest(event, Date.now());
    return Promise.all(kept.take().map(send));
  };
  const repeat = () => send(notificationOf([], { notices: kept.state.repeatedTo('it') }));
  const statuses = () => hook.posts.map(({ body }) => (JSON.parse(body) as Notified).status);
  await post(opened);
  await until('it is notified', () => hook.posts.length === 1);
  await post(closed);
  await first.stop();
  const { alerts } = await startAlertmanager(t, { ...options, address });
  assert.deepEqual([await alerts(), statuses()], [[], ['firing']]);
  await repeat();
  await until('it is resolved', () => hook.posts.length === 2);
  await repeat();
  assert.deepEqual(statuses(), ['firing', 'resolved']);
});

const incidentLaw = 'Alertmanager shows an incident as one alert while it grows, and resolves it where it is merged';

test(isHere ? incidentLaw : `${incidentLaw} (skipped: ${whyNoAlertmanager})`, {
  skip: !isHere,
}, async (t) => {
  const { url, alerts } = await startAlertmanager(t, { webhook: (await startHttpReceiver()).url });
  const { send } = receiverOf(`alertmanager: { url: "${url}" }`);
  const notified = notifiedIncident();
  const opened = incidentNotification(notified);
  const [{ opening }] = opened.notices;
  const later = {
    ...notified,
    type: 'updated',
    revision: 4,
    eventCount: 90,
    labels: {},
    summary: '80 series at once',
  } as const;
  const updated = incidentNotification(later, { notices: [{ type: 'updated', incident: later, opening }] });
  for (const each of [opened, updated]) assert.deepEqual(await send(each), { kind: 'accepted' });
  await until('it is updated', async () => (await alerts())[0]?.annotations.summary === '80 series at once');
  const [{ labels }, ...more] = await alerts();
  assert.deepEqual(more, []);
  assert.deepEqual(labels, {
    alertname: 'Incident',
    incident_id: notified.incidentId,
    kind: 'simultaneous',
    severity: 'warning',
    team: 'platform',
  });
  const merged = { ...notified, type: 'merged', revision: 5, mergedInto: '00ff' } as const;
  await send(incidentNotification(merged, { notices: [{ type: 'closed', incident: merged, opening }] }));
  await until('it is resolved', async () => (await alerts()).length === 0);
});
