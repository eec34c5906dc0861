import assert from 'node:assert/strict';
import test from 'node:test';
import { endAlignedOffsets, withGroupContext } from '../../../src/forecasting/group-context.ts';

/*
 * Three series on a common axis; `a` is requested at time 6, `c` at time 9.
 *
 *   time  0 1 2 3 4 5 6 7 8
 *   a     . . a a a a
 *   b     b b b
 *   c               c c c c
 */
const SERIES = { lengths: [4, 3, 4], offsets: [2, 0, 5] };
const REQUESTED = [
  { series: 0, cutoff: 4 },
  { series: 2, cutoff: 4 },
];

test('the group of a point has every series with observations in the context', () => {
  assert.deepEqual(withGroupContext(REQUESTED, { ...SERIES, context: 5 }), [
    { series: 0, cutoff: 4, time: 6, requested: 0 },
    { series: 1, cutoff: 6, time: 6, requested: null },
    { series: 2, cutoff: 1, time: 6, requested: null },
    { series: 0, cutoff: 7, time: 9, requested: null },
    { series: 2, cutoff: 4, time: 9, requested: 1 },
  ]);
});

test('a series that ended before the context is no member', () => {
  const times = withGroupContext(REQUESTED, { ...SERIES, context: 3 });
  const actual = times.map(({ series, time }) => [series, time]);
  assert.deepEqual(actual, [
    [0, 6],
    [2, 6],
    [2, 9],
  ]);
});

test('points of one time are one group, in any order of the request', () => {
  const points = [
    { series: 1, cutoff: 3 },
    { series: 0, cutoff: 4 },
  ];
  assert.deepEqual(withGroupContext(points, { lengths: [4, 3], offsets: endAlignedOffsets([4, 3]), context: 9 }), [
    { series: 0, cutoff: 4, time: 4, requested: 1 },
    { series: 1, cutoff: 3, time: 4, requested: 0 },
  ]);
});
