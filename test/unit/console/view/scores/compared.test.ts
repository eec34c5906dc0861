import assert from 'node:assert/strict';
import { test } from 'node:test';
import { before, comparedValues } from '../../../../../src/console/view/scores/compared.ts';
import { NO_SCORES, type ShownScores } from '../../../../../src/console/view/scores/shown-scores.ts';

const of = (timestampMs: number[], value: (number | null)[]): ShownScores => ({ ...NO_SCORES, timestampMs, value });

test('earlier values are drawn at the times that are so much later', () => {
  const earlier = of([0, 10, 20, 40], [1, 2, 3, 5]);
  assert.deepEqual(comparedValues(of([100, 110, 120, 130, 140], []), earlier, 100), [1, 2, 3, null, 5]);
});

test('other times are compared with the newest value before them, of the last step', () => {
  const earlier = of([3, 13, 23], [1, 2, 3]);
  assert.deepEqual(comparedValues(of([100, 110, 120, 130], []), earlier, 100), [null, 1, 2, 3]);
  assert.deepEqual(comparedValues(of([], []), earlier, 100), []);
  assert.deepEqual(comparedValues(of([100, 110], []), of([], []), 100), [null, null]);
});

test('a stretch of time is moved back as a whole', () => {
  assert.deepEqual(before({ from: 50, to: 70 }, 20), { from: 30, to: 50 });
});
