import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DailyHabit, habitText, habitWith, isOver } from '../../../../src/detection/event/daily-habit.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const daysOf = (hours: readonly number[]) => {
  let habit: DailyHabit | null = null;
  return hours.map((hour) => {
    const next = habitWith(habit, hour * HOUR_MS, MINUTE_MS);
    habit = next ?? habit;
    return next?.days ?? null;
  });
};

test('events that begin at about the same time of one day after the other are counted', () => {
  assert.deepEqual(daysOf([0, 24, 48.5, 71.6]), [1, 2, 3, 4]);
  assert.deepEqual(daysOf([0, 5, 24, 30, 49]), [1, null, 2, null, 3], 'other events of the day change nothing');
  assert.deepEqual(daysOf([0, 24, 72]), [1, 2, 1], 'a day without one begins anew');
  assert.equal(habitWith({ atMs: 0, days: 1 }, 24 * HOUR_MS, 6 * HOUR_MS), null, 'steps longer than an hour have none');
});

test('a habit is over a day and an hour after its newest event', () => {
  assert.deepEqual(
    [25, 25.1].map((hour) => isOver({ atMs: 0, days: 3 }, hour * HOUR_MS)),
    [false, true],
  );
});

test('the first day is not told', () => {
  assert.deepEqual([1, 2, 3, 10, 11].map(habitText), [
    null,
    'second day in a row at this time',
    'third day in a row at this time',
    'tenth day in a row at this time',
    'day 11 in a row at this time',
  ]);
});
