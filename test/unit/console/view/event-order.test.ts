import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOrder, parseOrder, sortedEvents } from '../../../../src/console/view/event-order.ts';
import { seen } from '../../../fixture/console/seen-event.ts';

const events = [
  seen({ eventId: 'a', series: 'x', startedAtMs: 3, endedAtMs: 10, grade: 0.5 }),
  seen({ eventId: 'b', series: 'z', startedAtMs: 2, endedAtMs: null, grade: null }),
  seen({ eventId: 'c', series: 'y', startedAtMs: 1, endedAtMs: 4, grade: 0.9 }),
];
const ids = (order: string) => sortedEvents(events, parseOrder(order)).map(({ eventId }) => eventId);

test('events are sorted by a column, either way; what has no number is the least, what is open the longest', () => {
  assert.deepEqual(ids(''), ['a', 'b', 'c']);
  assert.deepEqual(ids('no-column'), ['a', 'b', 'c']);
  assert.deepEqual(ids('series'), ['a', 'c', 'b']);
  assert.deepEqual(ids('-grade'), ['c', 'a', 'b']);
  assert.deepEqual(ids('grade'), ['b', 'a', 'c']);
  assert.deepEqual(ids('-length'), ['b', 'a', 'c']);
});

test('a press begins with the largest number or the first name, and another one turns the order round', () => {
  assert.equal(nextOrder(null, 'grade'), '-grade');
  assert.equal(nextOrder(parseOrder('-grade'), 'grade'), 'grade');
  assert.equal(nextOrder(parseOrder('-grade'), 'series'), 'series');
  assert.equal(nextOrder(parseOrder('series'), 'series'), '-series');
});
