import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownBlock } from '@slack/types';
import { DEFAULT_WORDING, wordsOf } from '../../../../src/alerts/message/wording.ts';
import { slackMessage } from '../../../../src/alerts/receivers/slack.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';

function messageOf(...events: Parameters<typeof notificationOf>[0]) {
  const notification = notificationOf(events);
  return slackMessage(notification, wordsOf(DEFAULT_WORDING, notification), DEFAULT_WORDING);
}

test('the message is of the types that Slack publishes, and within its limits', () => {
  const events = Array.from({ length: 60 }, (_, i) => revisionsOf(i, { summary: 'x'.repeat(600) }).opened);
  const { blocks } = messageOf(...events);
  // The compiler compares them.
  const known: readonly KnownBlock[] = blocks;
  assert.ok(known.length <= 50);
  for (const block of blocks) {
    if (block.type === 'header') assert.ok(block.text.text.length <= 150);
    if (block.type === 'section') assert.ok(block.text.text.length > 0 && block.text.text.length <= 3_000);
    if (block.type === 'context') assert.ok(block.elements.length <= 10);
  }
});

test('ids of 283 characters are whole in title and blocks; in a list what they share is listed once', () => {
  const idOf = (pod: string) => `requests{cluster="${'c'.repeat(100)}",pod="${pod}",zone="${'z'.repeat(150)}"}`;
  const [first, second] = ['pod-1', 'pod-2'].map((pod, i) => revisionsOf(i, { series: idOf(pod) }).opened);
  const one = messageOf(first);
  assert.match(one.text, /pod="pod-1",zone="z{150}"/);
  assert.equal(one.blocks[0].type, 'section');
  const text = JSON.stringify(messageOf(first, second).blocks);
  assert.equal(text.match(/z{150}/g)?.length, 2, 'in the title and above the list');
  assert.match(text, /all series share requests\{cluster=/);
  assert.match(text, /\[opened\] pod=pod-1: .*\[opened\] pod=pod-2: /s);
});

test('what a series is called is plain text: no mention, no link, no format', () => {
  const { text, blocks } = messageOf(
    revisionsOf(1, { series: '<!channel> <https://evil.example|login> *b* :fire:' }).opened,
  );
  assert.doesNotMatch(text, /<|>/);
  assert.match(text, /&lt;!channel&gt;/);
  const texts = blocks.flatMap((block) => (block.type === 'context' ? block.elements : [block.text]));
  assert.ok(texts.every((shown) => shown.type === 'plain_text' && shown.emoji === false));
  assert.ok(texts.some(({ text: shown }) => shown.includes('<!channel>')));
});

test('no part of a long text ends in half a character', () => {
  const { blocks } = messageOf(
    revisionsOf(1, { summary: '🔥'.repeat(3_000) }).opened,
    revisionsOf(2, { summary: 'x🔥'.repeat(240) }).opened,
  );
  for (const block of blocks) {
    if (block.type === 'section') assert.ok(block.text.text.isWellFormed());
  }
});

test('it is posted to the URL of the channel', async () => {
  const slack = await startHttpReceiver((response) => response.end('ok'));
  const { send } = receiverOf('slack: { url_env: URL }', { URL: `${slack.url}/services/T/B/X` });
  assert.equal((await send(notificationOf([revisionsOf(1).closed]))).kind, 'accepted');
  assert.equal(slack.posts[0].path, '/services/T/B/X');
  assert.match(JSON.parse(slack.posts[0].body).text, /^\[closed\] spike in series-1$/);
});

test('an incident is one message with the first three places where it may have begun', async () => {
  const hook = await startHttpReceiver();
  const { send } = receiverOf(`slack: { url: "${hook.url}" }`);
  const notified = notifiedIncident();
  assert.equal((await send(incidentNotification(notified))).kind, 'accepted');
  const { text, blocks } = JSON.parse(hook.posts[0].body);
  assert.equal(text, `[opened] ${notified.summary}`);
  assert.match(blocks[1].text.text, /1\. db-1: .*\n2\. web\/errors\n3\. cart: /);
  assert.doesNotMatch(blocks[1].text.text, /mail/);
  assert.equal(blocks.at(-1).elements[0].text, `incident ${notified.incidentId}`);
});
