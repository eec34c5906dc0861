import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReceiver } from '../../../../src/alerts/receivers/open-receivers.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { routesOf } from '../../../fixture/alerts/routes.ts';

test('every receiver links to the page of the event or incident in the console', async () => {
  const hook = await startHttpReceiver();
  const { receivers, allowPrivate } = routesOf(
    `
console_url: https://tidewatch.example.com/console
allow_private: [127.0.0.1]
receivers:
  - { name: hook, webhook: { url: "${hook.url}" } }
  - { name: chat, slack: { url: "${hook.url}" } }
  - { name: duty, pagerduty: { url: "${hook.url}", routing_key_env: KEY } }
  - { name: am, alertmanager: { url: "${hook.url}" } }
routes: [{ name: all, receivers: hook }]`,
    { KEY: '0123456789abcdef0123456789ABCDEF' },
  );
  const { opened } = revisionsOf(1);
  const notified = notifiedIncident();
  const link = `https://tidewatch.example.com/console#/events/${opened.eventId}`;
  for (const settings of receivers) {
    const receiver = openReceiver(settings, { allowPrivate });
    await receiver.send(notificationOf([opened]), new AbortController().signal);
    await receiver.send(incidentNotification(notified), new AbortController().signal);
    receiver.close();
  }
  const bodies = hook.posts.map(({ body }) => JSON.parse(body));
  const [webhook, slack, duty, [alert]] = bodies.filter((_, i) => i % 2 === 0);
  assert.equal(webhook.data.events[0].link, link);
  assert.ok(webhook.data.text.split('\n').includes(link));
  assert.deepEqual(slack.blocks.at(-1).elements, [{ type: 'mrkdwn', text: `<${link}|event ${opened.eventId}>` }]);
  assert.deepEqual(duty.links, [{ href: link, text: 'The event in the console' }]);
  assert.equal(alert.generatorURL, link);

  const page = `https://tidewatch.example.com/console#/incidents/${notified.incidentId}`;
  const [hooked, chat, paged, [managed]] = bodies.filter((_, i) => i % 2 === 1);
  assert.equal(hooked.data.incidents[0].link, page);
  assert.ok(hooked.data.text.endsWith(page));
  assert.equal(chat.blocks.at(-1).elements[0].text, `<${page}|incident ${notified.incidentId}>`);
  assert.deepEqual(paged.links, [{ href: page, text: 'The incident in the console' }]);
  assert.equal(managed.generatorURL, page);
});
