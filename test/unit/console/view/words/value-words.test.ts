import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  behindText,
  counted,
  dayText,
  elapsedText,
  momentOf,
  momentText,
  numberText,
  percentText,
  showTimesIn,
  timeText,
  zonedText,
  zoneOfTimes,
} from '../../../../../src/console/view/words/value-words.ts';

afterEach(() => showTimesIn(undefined));

test('a time of today has no day, and one of this year no year', () => {
  const at = new Date(2026, 2, 12, 14, 5, 9).getTime();
  assert.equal(timeText(at, at + 60_000), '14:05');
  assert.equal(timeText(at, at + 86_400_000), '12 Mar 14:05');
  assert.equal(timeText(at, at + 366 * 86_400_000), '12 Mar 2026 14:05');
  assert.equal(momentText(at), '2026-03-12 14:05:09');
});

test('times are those of the clock that was chosen, which has a name', () => {
  const at = Date.UTC(2026, 6, 1, 22, 30);
  showTimesIn('Europe/Berlin');
  assert.deepEqual([momentText(at), zonedText(at)], ['2026-07-02 00:30:00', '2026-07-02 00:30:00 GMT+2']);
  assert.deepEqual([dayText(at), zoneOfTimes()], ['2 Jul', 'Europe/Berlin']);
  showTimesIn('UTC');
  assert.equal(zonedText(at), '2026-07-01 22:30:00 UTC');
});

test('a time beyond all dates is the last one', () => {
  showTimesIn('UTC');
  assert.equal(momentText(9e15), momentText(8.64e15));
});

test('an unknown clock is that of the browser', () => {
  showTimesIn('Nowhere/Never');
  assert.equal(zoneOfTimes(), Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test('a clock of the series that is behind is named', () => {
  assert.equal(behindText(0, 60_000), '');
  assert.equal(behindText(0, 7_500_000), ' (event time), 2 h 5 min behind the clock');
});

test('what is typed is read by the shown clock, also where it changes', () => {
  showTimesIn('Europe/Berlin');
  for (const at of [Date.UTC(2026, 2, 29, 0, 59), Date.UTC(2026, 2, 29, 1, 1), Date.UTC(2026, 9, 25, 2, 30)]) {
    assert.equal(momentOf(momentText(at)), at);
    assert.equal(momentOf(momentText(at).slice(0, 16).replace(' ', 'T')), at);
  }
  assert.equal(momentOf('tomorrow'), Number.NaN);
});

test('numbers have four digits that count, and large ones a unit', () => {
  const numbers = [0, 1.23456, 999.96, 41_267, 123_456, 5_000_000_000, -0.00012345, -12.5];
  assert.deepEqual(numbers.map(numberText), ['0', '1.235', '1,000', '41,267', '123.5K', '5G', '-1.23E-4', '-12.5']);
  assert.deepEqual([null, Number.NaN, Number.POSITIVE_INFINITY].map(numberText), ['–', '–', '–']);
});

test('lengths are exact to the minute', () => {
  assert.deepEqual([0, 999, 59_000, 61_000, 3_600_000, 7_500_000, 93_600_000, -5].map(elapsedText), [
    '0 s',
    '0 s',
    '59 s',
    '1 min',
    '1 h',
    '2 h 5 min',
    '1 d 2 h',
    '0 s',
  ]);
  assert.equal(elapsedText(27 * 86_400_000 + 10_500_000), '27 d 2 h 55 min');
});

test('counts and shares', () => {
  assert.deepEqual([counted(1, 'event'), counted(1_200, 'event')], ['1 event', '1,200 events']);
  assert.deepEqual([0, 0.004, 0.5, 12].map(percentText), ['0 %', '0.4 %', '50 %', '1,200 %']);
});
