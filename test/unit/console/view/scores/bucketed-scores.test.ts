import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketed } from '../../../../../src/console/view/scores/bucketed-scores.ts';
import type { ShownScores } from '../../../../../src/console/view/scores/shown-scores.ts';

const value = [1, 5, null, 3, null];
const SCORES: ShownScores = {
  timestampMs: [10, 20, 30, 40, 50],
  value,
  value_min: value,
  value_max: value,
  bucket_ms: null,
  forecast: [2, 2, 2, 2, 2],
  lo: [0, 0, 0, 0, 0],
  hi: [4, 4, 4, 4, 4],
  grade: [null, 0.9, 0.1, 0.2, 0.3],
  alarms: [0, 1, 0, 0, 0],
};

test('a range holds its first moment and not its last', () => {
  const { timestampMs, bucket_ms } = bucketed(SCORES, { from: 20, to: 40, points: 10 });
  assert.deepEqual([timestampMs, bucket_ms], [[20, 30], null]);
  assert.deepEqual(bucketed(SCORES, { from: 60, to: undefined, points: 10 }).timestampMs, []);
});

test('too many scores become means with their extremes, worst grade and alarms counted', () => {
  const {
    timestampMs,
    value: means,
    value_min: min,
    value_max: max,
    grade,
    alarms,
    bucket_ms,
  } = bucketed(SCORES, {
    from: undefined,
    to: undefined,
    points: 3,
  });
  assert.deepEqual(timestampMs, [10, 30, 50]);
  assert.deepEqual(
    [means, min, max],
    [
      [3, 3, null],
      [1, 3, null],
      [5, 3, null],
    ],
  );
  assert.deepEqual([grade, alarms, bucket_ms], [[0.9, 0.2, 0.3], [1, 0, 0], 20]);
});
