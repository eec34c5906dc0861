import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketed } from '../../../../src/console/view/bucketed-scores.ts';
import type { ShownScores } from '../../../../src/console/view/seen.ts';

const value = [1, 5, null, 3, null];
const SCORES: ShownScores = {
  ...{ at: [10, 20, 30, 40, 50], value, min: value, max: value, downsampled: false },
  ...{ forecast: [2, 2, 2, 2, 2], lo: [0, 0, 0, 0, 0], hi: [4, 4, 4, 4, 4] },
  ...{ grade: [null, 0.9, 0.1, 0.2, 0.3], alarm: [false, true, false, false, false] },
};

test('a range holds its first moment and not its last', () => {
  const { at, downsampled } = bucketed(SCORES, { from: 20, to: 40, points: 10 });
  assert.deepEqual([at, downsampled], [[20, 30], false]);
  assert.deepEqual(bucketed(SCORES, { from: 60, to: undefined, points: 10 }).at, []);
});

test('too many scores become means with their extremes, worst grade and any alarm', () => {
  const {
    at,
    value: means,
    min,
    max,
    grade,
    alarm,
    downsampled,
  } = bucketed(SCORES, {
    ...{ from: undefined, to: undefined, points: 3 },
  });
  assert.deepEqual(at, [10, 30, 50]);
  assert.deepEqual(
    [means, min, max],
    [
      [3, 3, null],
      [1, 3, null],
      [5, 3, null],
    ],
  );
  assert.deepEqual([grade, alarm, downsampled], [[0.9, 0.2, 0.3], [true, false, false], true]);
});
