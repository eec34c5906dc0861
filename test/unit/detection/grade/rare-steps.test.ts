import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALARM_STATE, judgeRow } from '../../../../src/detection/alarm/alarm.ts';
import { shownByRareStep } from '../../../../src/detection/grade/rare-steps.ts';

const target = { rate: 0.001, gap: 24, isGroup: false };
const isAlarm = (sharp: number, rareStep: number) => {
  return judgeRow(new Float64Array(ALARM_STATE.count), 0, { sharp, wide: sharp, rareStep }, target).alarm;
};

test('the rarer the steps of a series were, the more any of them counts, up to a bound; 64 steps define what is usual', () => {
  const actual = [99, 49, 9, 0].map((steps) => shownByRareStep(steps, 100));
  assert.deepEqual(actual, [0, 30, 80, 80]);
  assert.equal(shownByRareStep(19, 100), 60);
  assert.equal(shownByRareStep(64, 10_000), 0);
  assert.equal(shownByRareStep(0, 1), 0);
});

test('what any rare step shows is no alarm, and raises the threshold all the same; what shows more is one', () => {
  assert.deepEqual([isAlarm(60, 0), isAlarm(60, 80), isAlarm(95, 80)], [true, false, true]);
  const state = new Float64Array(ALARM_STATE.count);
  judgeRow(state, 0, { sharp: 60, wide: 60, rareStep: 80 }, target);
  assert.ok(state[ALARM_STATE.at.threshold] > 0);
});
