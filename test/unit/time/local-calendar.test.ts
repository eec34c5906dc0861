import assert from 'node:assert/strict';
import test from 'node:test';
import { type LocalCalendar, offsetAt, weekdayOf, zoneOffsets } from '../../../src/time/local-calendar.ts';
import { repeatedDates, type SpecialDates, specialDaysOf } from '../../../src/time/local-times.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (calendar: Pick<LocalCalendar, 'offsets'>, text: string) => offsetAt(calendar, Date.parse(text)) / HOUR_MS;

test('a zone is resolved to the minutes at which its clock changes', () => {
  const berlin = { offsets: zoneOffsets('Europe/Berlin') };
  assert.equal(at(berlin, '2026-03-29T00:59:59Z'), 1);
  assert.equal(at(berlin, '2026-03-29T01:00:00Z'), 2);
  assert.equal(at(berlin, '2026-10-25T00:59:59Z'), 2);
  assert.equal(at(berlin, '2026-10-25T01:00:00Z'), 1);
  assert.equal(at({ offsets: zoneOffsets('Australia/Lord_Howe') }, '2026-01-01T00:00:00Z'), 11);
  assert.equal(at({ offsets: zoneOffsets('Asia/Kolkata') }, '2026-01-01T00:00:00Z'), 5.5);
});

test('UTC has no changes, and the nearest distance holds beyond those that are known', () => {
  assert.deepEqual(zoneOffsets('UTC'), []);
  assert.equal(offsetAt({ offsets: [] }, 0), 0);
  const offsets = [
    [1_000, 5],
    [2_000, 7],
  ] as const;
  const found = [0, 999, 1_000, 1_999, 2_000, 1e15].map((ms) => offsetAt({ offsets }, ms));
  assert.deepEqual(found, [5, 5, 5, 5, 7, 7]);
});

test('weekdays count from Monday, before 1970 too', () => {
  const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
  assert.equal(weekdayOf(day('2026-03-02')), 0);
  assert.equal(weekdayOf(day('2026-03-08')), 6);
  assert.equal(weekdayOf(day('1969-12-29')), 0);
});

test('special days are those of every year and of one year, which wins, and win over holidays', () => {
  const special: SpecialDates[] = [
    { dates: ['2026-12-24'], like: 'sun' },
    { dates: ['12-24', '02-29'], like: 'sat' },
  ];
  const days = specialDaysOf([{ dates: ['2025-12-24', '2026-12-24'], like: 'mon' }], special);
  const on = new Map(days.map(([day, weekday]) => [new Date(day * DAY_MS).toISOString().slice(0, 10), weekday]));
  assert.equal(on.get('2025-12-24'), 5);
  assert.equal(on.get('2026-12-24'), 6);
  assert.equal(on.get('2028-02-29'), 5);
  assert.equal([...on.keys()].filter((date) => date.startsWith('2026')).length, 1);
  const numbers = days.map(([day]) => day);
  const expected = numbers.toSorted((a, b) => a - b);
  assert.deepEqual(numbers, expected);
});

test('a date of two entries is found with both of them; within one entry it may be repeated', () => {
  const found = repeatedDates([
    { dates: ['12-24', '12-24'], like: 'sat' },
    { dates: ['2026-12-24'], like: 'sun' },
    { dates: ['01-01', '12-24'], like: 'sun' },
  ]);
  assert.deepEqual(found, [{ date: '12-24', entry: 2, place: 1, earlier: 0 }]);
});
