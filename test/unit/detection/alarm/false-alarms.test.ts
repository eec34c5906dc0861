import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarmRateOf, parseFalseAlarms } from '../../../../src/detection/alarm/false-alarms.ts';
import { parseFrequency } from '../../../../src/time/frequency.ts';

const rateOf = (freq: string, text?: string) =>
  alarmRateOf({ falseAlarms: text === undefined ? undefined : parseFalseAlarms(text)! }, parseFrequency(freq)!);

test('the default is one a week, and stays between 1 in 50,000 and 1 in 1,000 rows', () => {
  assert.equal(rateOf('min'), 1 / (7 * 24 * 60));
  assert.equal(rateOf('D'), 1 / 1_000);
  assert.equal(rateOf('s'), 1 / 50_000, 'a series of every second still alarms of what anyone calls an incident');
});

test('a target rate is kept, up to 1 in 100 rows', () => {
  assert.equal(rateOf('s', '1/week'), 1 / (7 * 24 * 60 * 60));
  assert.equal(rateOf('D', '2/week'), 1 / 100);
  assert.equal(rateOf('h', 'off'), null);
});
