import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, elapsedText, numberText, percentText } from '../../../../../src/console/view/words/number-words.ts';

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
