import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { ALERT_LIFE_MS, postableAlert } from '../../../../src/alerts/receivers/alertmanager.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { noticeOf, notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';

/** `postableAlerts` of the OpenAPI document of Alertmanager's API v2, with the rules it checks names and values by. */
const labelSet = { type: 'object', additionalProperties: { type: 'string', minLength: 1 } };
const isPostable = new Ajv({ strict: false }).compile({
  type: 'array',
  items: {
    type: 'object',
    required: ['labels'],
    additionalProperties: false,
    properties: {
      startsAt: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z$' },
      endsAt: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z$' },
      annotations: labelSet,
      labels: { ...labelSet, minProperties: 1, propertyNames: { pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' } },
      generatorURL: { type: 'string' },
    },
  },
});

const WORDS = { title: 'title', text: 'text', link: null, alertname: 'Anomaly', severities: new Map<string, string>() };

test('what is posted is what the published schema describes', async () => {
  const manager = await startHttpReceiver((response) => response.end());
  const { send } = receiverOf(`alertmanager: { url: "${manager.url}/prefix/" }`);
  const labels = { 'k8s.io/app': 'shop', '1st': 'a', empty: '', alertname: 'mine', hostile: 'a\u0000\nb' };
  const seriesLabels = { __name__: 'up', job: 'node', detector: 'mine' };
  const { opened } = revisionsOf(1, { labels, seriesLabels });
  const { closed } = revisionsOf(2, { series: null, group: 'checkout', unusual: 'highest in 14 days' });
  assert.equal((await send(notificationOf([opened, closed]))).kind, 'accepted');
  const paths = manager.posts.map(({ path }) => path);
  assert.deepEqual(paths, ['/prefix/api/v2/alerts', '/prefix/api/v2/alerts']);
  for (const { body } of manager.posts) assert.ok(isPostable(JSON.parse(body)), JSON.stringify(isPostable.errors));
  const [alert] = JSON.parse(manager.posts[0].body);
  assert.deepEqual(alert.labels, {
    metric: 'up',
    job: 'node',
    k8s_io_app: 'shop',
    _1st: 'a',
    hostile: 'a b',
    alertname: 'Anomaly',
    detector: 'cpu',
    series: 'series-1',
    kind: 'spike',
    severity: 'warning',
    event_id: opened.eventId,
  });
});

test('the labels of an event never change, so that its end finds it', () => {
  const { opened, closed } = revisionsOf(1, { grade: 0.7 });
  const { opening } = noticeOf(opened);
  const first = postableAlert(noticeOf(opened), WORDS, 0);
  const last = postableAlert(
    { type: 'closed', event: { ...closed, kind: 'level_shift', grade: 0.99 }, opening },
    WORDS,
    0,
  );
  assert.deepEqual(last.labels, first.labels);
});

test('alertname and severity are those that rules know', () => {
  const { opened } = revisionsOf(1, { grade: 0.85, labels: { runbook: 'https://runbooks.example/cpu' } });
  const words = { ...WORDS, alertname: 'TidewatchAnomaly', severities: new Map([['error', 'warning']]) };
  const { labels, annotations } = postableAlert(noticeOf(opened), words, 0);
  assert.deepEqual([labels.alertname, labels.severity], ['TidewatchAnomaly', 'warning']);
  assert.equal(annotations.runbook_url, 'https://runbooks.example/cpu');
});

test('an open alert lives for a while, a closed one has ended, and neither begins after its end', () => {
  const { opened, closed } = revisionsOf(1);
  const nowMs = opened.startedAtMs - 1;
  const open = postableAlert(noticeOf(opened), WORDS, nowMs);
  assert.deepEqual([Date.parse(open.startsAt), Date.parse(open.endsAt)], [nowMs, nowMs + ALERT_LIFE_MS]);
  const over = postableAlert(noticeOf(closed), WORDS, nowMs);
  assert.deepEqual([Date.parse(over.startsAt), Date.parse(over.endsAt)], [nowMs, nowMs]);
});

test('the labels of an incident are those that all of its events had at first, and never change', async () => {
  const manager = await startHttpReceiver((response) => response.end());
  const { send } = receiverOf(`alertmanager: { url: "${manager.url}" }`);
  const notified = notifiedIncident({ seriesLabels: { __name__: 'up', dc: 'eu' } });
  const first = incidentNotification(notified);
  await send(first);
  const later = { ...notified, type: 'updated', revision: 5, grade: 0.99, kind: 'related', labels: {} } as const;
  await send(incidentNotification(later, { notices: [{ ...first.notices[0], incident: later, type: 'updated' }] }));
  const alerts = manager.posts.map(({ body }) => JSON.parse(body));
  for (const posted of alerts) assert.ok(isPostable(posted), JSON.stringify(isPostable.errors));
  const [[one], [other]] = alerts;
  assert.deepEqual(one.labels, {
    alertname: 'Incident',
    incident_id: notified.incidentId,
    kind: 'simultaneous',
    severity: 'warning',
    team: 'platform',
    metric: 'up',
    dc: 'eu',
  });
  assert.deepEqual(other.labels, one.labels);
  assert.equal(other.annotations.urgency, 'critical');
  assert.equal(one.annotations.origin_1, 'db-1: first to move, 41 s before the others, 3 moved');
});
