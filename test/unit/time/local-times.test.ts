import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, isWithin, type TimesDaily } from '../../../src/time/local-times.ts';

const night: TimesDaily = { days: [], dates: [], from: 22 * 60, to: 4 * 60, timeZone: 'Europe/Berlin' };
const at = (text: string) => Date.parse(text);

test('times of one stretch hold their start and not their end', () => {
  const times = { startMs: 1_000, endMs: 2_000 };
  const within = [999, 1_000, 1_999, 2_000].map((ms) => isWithin(times, ms));
  assert.deepEqual(within, [false, true, true, false]);
});

test('times past midnight belong to the day on which they begin', () => {
  const times = { ...night, days: ['sat' as const] };
  // Berlin is an hour ahead in January; the 4th of 2025 is a Saturday.
  assert.equal(isWithin(times, at('2025-01-04T20:59:00Z')), false);
  assert.equal(isWithin(times, at('2025-01-04T21:00:00Z')), true);
  assert.equal(isWithin(times, at('2025-01-05T02:59:00Z')), true);
  assert.equal(isWithin(times, at('2025-01-05T03:00:00Z')), false);
  assert.equal(isWithin(times, at('2025-01-04T02:00:00Z')), false, 'that night began on a Friday');
});

test('times of the day follow the clock of their place through summer time', () => {
  const morning = { ...night, from: 2 * 60, to: 3 * 60 };
  // On 30 March 2025 the clocks go from 02:00 to 03:00: that hour does not come.
  const spring = [0, 1, 2].map((hour) => isWithin(morning, at(`2025-03-30T0${hour}:30:00Z`)));
  assert.deepEqual(spring, [false, false, false]);
  // On 26 October 2025 they go from 03:00 to 02:00: that hour comes twice.
  const autumn = [0, 1, 2].map((hour) => isWithin(morning, at(`2025-10-26T0${hour}:30:00Z`)));
  assert.deepEqual(autumn, [true, true, false]);
});

test('dates hold in one year, or in every year', () => {
  const wholeDay = { ...night, from: 0, to: 1_440 };
  const once = { ...wholeDay, dates: ['2025-12-24'] };
  const yearly = { ...wholeDay, dates: ['12-24'] };
  const actual = [once, yearly].map((times) => isWithin(times, at('2025-12-24T12:00:00Z')));
  assert.deepEqual(actual, [true, true]);
  assert.deepEqual(
    [once, yearly].map((times) => isWithin(times, at('2026-12-24T12:00:00Z'))),
    [false, true],
  );
  // Half past midnight in Berlin.
  assert.equal(isWithin(once, at('2025-12-24T23:30:00Z')), false);
});

test('a time zone must be known', () => {
  assert.deepEqual(['Europe/Berlin', 'UTC', 'Europe/Atlantis', ''].map(isTimeZone), [true, true, false, false]);
});
