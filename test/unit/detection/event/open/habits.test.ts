import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contradict,
  daysInARow,
  type Habit,
  habitText,
  isUsual,
  withOccurrence,
} from '../../../../../src/detection/event/open/habits.ts';

const HOUR_MS = 3_600_000;
const job = (hour: number, value = 500) => ({ atMs: hour * HOUR_MS, value, size: 480 });

/** The days in a row of events at these hours, and the habits in the end. */
const passed = (hours: readonly number[], valueAt: (index: number) => number = () => 500) => {
  let habits: readonly Habit[] = [];
  const days = hours.map((hour, i) => {
    const count = daysInARow(habits, hour * HOUR_MS);
    habits = withOccurrence(habits, job(hour, valueAt(i)));
    return count;
  });
  return { days, habits };
};

test('events that begin at about the same time of one day after the other are counted', () => {
  assert.deepEqual(passed([0, 24, 48.5, 71.6]).days, [1, 2, 3, 4]);
  assert.deepEqual(passed([0, 5, 24, 34, 49]).days, [1, 1, 2, 1, 3], 'each time of the day has its own count');
  assert.deepEqual(passed([0, 24, 72]).days, [1, 2, 1], 'a day without one ends the count');
  assert.deepEqual(passed([0, 24, 48], (i) => 500 * (i + 1)).days, [1, 2, 3], 'whatever the values are');
});

test('what came four times at a time of the day with about the same value is usual', () => {
  const { habits } = passed([3, 27, 51, 75]);
  assert.equal(isUsual(habits, job(99)), true);
  assert.equal(isUsual(habits, job(99.9, 560)), true);
  assert.equal(isUsual(habits, job(99, 1_000)), false, 'twice the value is not');
  assert.equal(isUsual(habits, job(101)), false, 'nor is another time of the day');
  assert.equal(isUsual(habits, { ...job(99), series: 'other' }), false, 'nor is another member');
  assert.equal(isUsual(passed([3, 27, 51]).habits, job(75)), false, 'three times are too few');
  assert.equal(isUsual(passed([3, 3.2, 3.4, 3.6]).habits, job(27)), false, 'events of one day count once');
});

test('a weekly job is usual, also where one week has none; a habit of three weeks ago is over', () => {
  const week = 7 * 24;
  const { habits } = passed([3, 3 + week, 3 + 2 * week, 3 + 4 * week]);
  assert.equal(isUsual(habits, job(3 + 5 * week)), true);
  assert.equal(isUsual(habits, job(3 + 7 * week)), false);
  assert.equal(withOccurrence(habits, job(12 + 7 * week)).length, 1);
});

test('a range is not usual if an event of an earlier day at this time lies outside of it', () => {
  const { habits } = passed([3]);
  assert.equal(contradict(habits, 27 * HOUR_MS, [20, 210]), true);
  assert.equal(contradict(habits, 27 * HOUR_MS, [20, 510]), false);
  assert.equal(contradict(habits, 3 * HOUR_MS, [20, 210]), false, 'that of this event itself does not count');
  assert.equal(contradict(habits, 35 * HOUR_MS, [20, 210]), false);
});

test('habits are bounded: the newest ones are remembered', () => {
  const hours = passed([0, 2, 4, 6, 8, 10]).habits.map(({ atMs }) => atMs / HOUR_MS);
  assert.deepEqual(hours, [10, 8, 6, 4]);
});

test('habits that an earlier version kept have no value: their days count on', () => {
  const kept: Habit[] = [{ atMs: 0, days: 3 }];
  assert.equal(daysInARow(kept, 24 * HOUR_MS), 4);
  assert.equal(isUsual(kept, job(24)), false);
});

test('the first day is not reported', () => {
  assert.deepEqual([1, 2, 3, 10, 11].map(habitText), [
    null,
    'second day in a row at this time',
    'third day in a row at this time',
    'tenth day in a row at this time',
    'day 11 in a row at this time',
  ]);
});
