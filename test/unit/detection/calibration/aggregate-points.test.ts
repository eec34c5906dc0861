import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregateOf } from '../../../../src/detection/calibration/aggregate-points.ts';
import { AGGREGATES } from '../../../../src/detection/calibration/points.ts';

test('several values become one by each definition', () => {
  const values = [4, 1, 3, 2];
  const expected = { mean: 2.5, sum: 10, min: 1, max: 4, last: 2, count: 4, p50: 2.5, p95: 3.8499999999999996 };
  for (const aggregate of AGGREGATES) {
    assert.equal(aggregateOf(aggregate, { values, seconds: null }), expected[aggregate], aggregate);
  }
  assert.deepEqual(values, [4, 1, 3, 2]);
});

test('the mean of rates is the increase over all of the time', () => {
  // 10 in one second, 2 in nine.
  assert.equal(aggregateOf('mean', { values: [10, 2 / 9], seconds: [1, 9] }), 1.2);
});
