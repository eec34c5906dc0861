import assert from 'node:assert/strict';
import test from 'node:test';
import { SeriesAlarms, thresholdAtBudget, zonesOf } from '../../../../bench/detection/metrics-alarms.ts';

function labelled(length: number, ...events: readonly (readonly [number, number])[]): Uint8Array {
  const labels = new Uint8Array(length);
  for (const [start, end] of events) labels.fill(1, start, end);
  return labels;
}

function scored(length: number, peaks: Readonly<Record<number, number>>): Float64Array {
  return Float64Array.from({ length }, (_, row) => peaks[row] ?? 0);
}

test('an alarm finds an incident from two rows before it to a quarter of the merge window behind it', () => {
  const labels = labelled(60, [1, 3], [30, 31], [58, 60]);
  // 2 % of 1,000 rows merge, 5 are a quarter.
  const actual = zonesOf(labels, 1_000).map(({ rows }) => rows);
  assert.deepEqual(actual, [
    { start: 0, end: 8 },
    { start: 28, end: 36 },
    { start: 56, end: 60 },
  ]);
  const alarms = new SeriesAlarms(labels, scored(60, { 8: 1, 28: 1, 35: 1, 55: 1 }), 1_000);
  assert.deepEqual(alarms.found(1), [false, true, false]);
  assert.deepEqual(alarms.delays(1), [null, 0, null]);
});

test('the delay counts from the start of an incident, past its end too', () => {
  const alarms = new SeriesAlarms(labelled(60, [10, 12]), scored(60, { 13: 2, 14: 3 }), 1_000);
  assert.deepEqual([alarms.delays(2), alarms.delays(3)], [[3], [4]]);
});

test('crossings within the merge window after the first one of a false alarm are the same alarm', () => {
  const alarms = new SeriesAlarms(labelled(60), scored(60, { 5: 1, 10: 1, 24: 1, 25: 1, 44: 1, 45: 1 }), 1_000);
  assert.equal(alarms.falseAlarms(1), 3);
});

test('the threshold is the lowest that stays within the budget of all series together', () => {
  const first = new SeriesAlarms(labelled(60, [5, 6]), scored(60, { 5: 3, 30: 9 }), 1_000);
  const second = new SeriesAlarms(labelled(60, [40, 41]), scored(60, { 0: 4, 40: 8 }), 1_000);
  const at = (alarms: number) => thresholdAtBudget([first, second], (1_000 / 120) * alarms);
  assert.deepEqual([at(0), at(1), at(2)], [Number.POSITIVE_INFINITY, 8, 3]);
});
