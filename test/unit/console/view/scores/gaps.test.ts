import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withGaps } from '../../../../../src/console/view/scores/gaps.ts';
import { NO_SCORES, type ShownScores } from '../../../../../src/console/view/scores/shown-scores.ts';

const at = (timestampMs: number[], more: Partial<ShownScores> = {}): ShownScores => {
  const [value, none] = [timestampMs.map((time) => time * 10), timestampMs.map(() => null)];
  const numbers = { value, value_min: value, value_max: value, forecast: value, lo: value, hi: value, grade: none };
  return { ...NO_SCORES, timestampMs, ...numbers, alarms: timestampMs.map(() => 1), ...more };
};

test('a missing time step breaks every column once, however long it is', () => {
  const broken = withGaps(at([1, 2, 3, 5, 6, 90, 91]));
  assert.deepEqual(broken.timestampMs, [1, 2, 3, 4, 5, 6, 7, 90, 91]);
  assert.deepEqual(broken.value, [10, 20, 30, null, 50, 60, null, 900, 910]);
  assert.deepEqual(broken.lo, broken.value);
  assert.deepEqual(broken.alarms, [1, 1, 1, 0, 1, 1, 0, 1, 1]);
});

test('columns without a gap are returned as they are', () => {
  for (const columns of [at([]), at([4]), at([1, 2, 3]), at([0, 10, 21, 30])]) {
    assert.equal(withGaps(columns), columns);
  }
});

test('the step of buckets is their width', () => {
  assert.deepEqual(withGaps(at([0, 20, 40], { bucket_ms: 10 })).timestampMs, [0, 10, 20, 30, 40]);
});
