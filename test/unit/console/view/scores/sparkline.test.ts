import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SCORES, type ShownScores } from '../../../../../src/console/view/scores/shown-scores.ts';
import { sparklineOf } from '../../../../../src/console/view/scores/sparkline.ts';

const of = (value: (number | null)[], more: Partial<ShownScores> = {}): ShownScores => {
  const none = value.map(() => null);
  return {
    ...NO_SCORES,
    timestampMs: value.map((_, i) => i),
    value,
    lo: none,
    hi: none,
    alarms: value.map(() => 0),
    ...more,
  };
};

test('the smallest value is at the bottom and the largest at the top', () => {
  assert.equal(sparklineOf(of([0, 10, 5]), { width: 104, height: 24 }).line, 'M2 22L52 2L102 12');
});

test('a missing value leaves a gap', () => {
  assert.equal(sparklineOf(of([0, null, 10]), { width: 104, height: 24 }).line, 'M2 22M102 2');
});

test('a flat series is a line in the middle, and nothing is drawn of one point', () => {
  assert.equal(sparklineOf(of([3, 3]), { width: 104, height: 24 }).line, 'M2 12L102 12');
  assert.deepEqual(sparklineOf(of([3]), { width: 104, height: 24 }), { line: '', band: '', alarms: [] });
});

test('the interval breaks where there is none', () => {
  const drawn = sparklineOf(of([0, 1, null, 9, 10], { lo: [0, 0, null, 0, 0], hi: [10, 10, null, 10, 10] }), {
    width: 84,
    height: 24,
  });
  assert.equal(drawn.band, 'M2 2L22 2L22 22L2 22ZM62 2L82 2L82 22L62 22Z');
});

test('the interval goes there above and back below, and alarms are drawn on their values', () => {
  const drawn = sparklineOf(of([0, 10], { lo: [0, 0], hi: [10, 10], alarms: [0, 1] }), { width: 104, height: 24 });
  assert.equal(drawn.band, 'M2 2L102 2L102 22L2 22Z');
  assert.deepEqual(drawn.alarms, [{ x: 102, y: 2 }]);
});
