import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentMedian } from '../../../../../src/detection/event/kind/present-median.ts';

test('the median leaves out what is missing, and is the upper one of two', () => {
  assert.equal(presentMedian([3, Number.NaN, 1, 2]), 2);
  assert.equal(presentMedian([4, 1, 3, 2]), 3);
  assert.ok(Number.isNaN(presentMedian([])));
  assert.ok(Number.isNaN(presentMedian([Number.NaN])));
});
