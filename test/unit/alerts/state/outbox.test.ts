import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEAD_LETTERS_MAX, Outbox, QUEUED_MAX } from '../../../../src/alerts/state/outbox.ts';
import { eventId, eventOf, notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';

const REFUSED = { reason: 'refused', detail: 'status 404' } as const;

test('what waits and what was given up are restored, in their order', () => {
  const changes = new Map<string, string | null>();
  const outbox = new Outbox(['hook'], changes);
  for (let number = 0; number < 12; number++) outbox.add(notificationOf([revisionsOf(number).opened]));
  const keys = outbox.drainAdded().map(([key]) => key);
  outbox.accepted(keys[0]);
  outbox.failed(keys[1], REFUSED, 5);
  const restored = new Outbox(['hook'], new Map());
  for (const [key, json] of [...changes].reverse()) restored.restore(key, json);
  restored.restored(0);
  const added = restored.drainAdded().map(([key]) => key);
  assert.deepEqual(added, keys.slice(2));
  assert.deepEqual(restored.deadLetters(), outbox.deadLetters());
  restored.add(notificationOf([revisionsOf(99).opened]));
  assert.ok(restored.drainAdded()[0][0] > keys[11]);
});

test('a queue that is full turns what comes next into dead letters, and other receivers are not touched', () => {
  const outbox = new Outbox(['hook', 'boss'], new Map());
  for (let number = 0; number < QUEUED_MAX; number++) outbox.add(notificationOf([revisionsOf(number).opened]));
  outbox.drainAdded();
  outbox.add(notificationOf([revisionsOf(QUEUED_MAX).opened]));
  outbox.add(notificationOf([revisionsOf(QUEUED_MAX).opened], { receiver: 'boss' }));
  const notified = outbox.drainAdded().map(([, { receiver }]) => receiver);
  assert.deepEqual(notified, ['boss']);
  const reasons = outbox.deadLetters().map(({ reason }) => reason);
  assert.deepEqual(reasons, ['queue-full']);
});

test('the oldest dead letter makes room', () => {
  const outbox = new Outbox(['hook'], new Map());
  for (let number = 0; number <= DEAD_LETTERS_MAX; number++) {
    outbox.add(notificationOf([revisionsOf(number).opened]));
    outbox.failed(outbox.drainAdded()[0][0], REFUSED, number);
  }
  assert.equal(outbox.deadLetterCount, DEAD_LETTERS_MAX);
  assert.equal(outbox.deadLetters()[0].atMs, 1);
});

test('a dead letter about an open event is not repeated after its end', () => {
  const outbox = new Outbox(['hook'], new Map());
  const [gone, open] = [revisionsOf(1), revisionsOf(2)];
  for (const event of [gone.opened, gone.closed, open.opened]) {
    outbox.add(notificationOf([event]));
    outbox.failed(outbox.drainAdded()[0][0], REFUSED, event.revision);
  }
  assert.equal(outbox.redeliver(new Set([eventId(2)]), 9), 2);
  const said = outbox.drainAdded().map(([, { notices }]) => `${notices[0].type} ${eventOf(notices[0]).series}`);
  assert.deepEqual(said.sort(), ['closed series-1', 'opened series-2']);
  assert.equal(outbox.deadLetterCount, 0);
});

test('what waits for a receiver that is gone becomes a dead letter', () => {
  const changes = new Map<string, string | null>();
  new Outbox(['hook'], changes).add(notificationOf([revisionsOf(1).opened]));
  const outbox = new Outbox(['boss'], new Map());
  for (const [key, json] of changes) outbox.restore(key, json);
  outbox.restored(7);
  assert.deepEqual(outbox.drainAdded(), []);
  const deaths = outbox.deadLetters().map(({ reason, atMs }) => [reason, atMs]);
  assert.deepEqual(deaths, [['receiver-removed', 7]]);
});

test('what one address refused is a dead letter of its own, and a restart repeats what is open', () => {
  const changes = new Map<string, string | null>();
  const outbox = new Outbox(['mail'], changes);
  outbox.add(notificationOf([revisionsOf(1).opened], { receiver: 'mail' }));
  const [[key]] = outbox.drainAdded();
  const refused = ['c', 'd'].map((address) => ({ address, detail: `${address}: 550` }));
  outbox.narrowed(key, { to: ['b'], refused }, 5);
  const restored = new Outbox(['mail'], new Map());
  for (const [entry, json] of changes) restored.restore(entry, json);
  restored.restored(0);
  const recipients = restored.drainAdded().map(([, { to }]) => to);
  assert.deepEqual(recipients, [['b']]);
  const actual = restored.deadLetters().map(({ detail, notification }) => [detail, notification.to]);
  assert.deepEqual(actual, [
    ['c: 550', ['c']],
    ['d: 550', ['d']],
  ]);
  outbox.narrowed(key, { to: [], refused: [] }, 6);
  const details = outbox.drainSettled().map(({ death }) => death?.detail ?? null);
  assert.deepEqual(details, ['c: 550', 'd: 550', null]);
});
