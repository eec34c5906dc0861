import assert from 'node:assert/strict';
import test from 'node:test';
import { endAlignedOffsets, withGroupContext } from '../../../src/forecast/group-context.ts';

/*
 * Three series on a common axis; `a` is asked for at time 6, `c` at time 9.
 *
 *   time  0 1 2 3 4 5 6 7 8
 *   a     . . a a a a
 *   b     b b b
 *   c               c c c c
 */
const LENGTHS = [4, 3, 4];
const OFFSETS = [2, 0, 5];
const ASKED = [
  { series: 0, cutoff: 4 },
  { series: 2, cutoff: 4 },
];

test('a point is accompanied by every series that has begun and shows something', () => {
  assert.deepEqual(withGroupContext(ASKED, LENGTHS, OFFSETS, 5), [
    { series: 0, cutoff: 4, time: 6, asked: 0 },
    { series: 1, cutoff: 6, time: 6, asked: null },
    { series: 2, cutoff: 1, time: 6, asked: null },
    { series: 0, cutoff: 7, time: 9, asked: null },
    { series: 2, cutoff: 4, time: 9, asked: 1 },
  ]);
});

test('a series that ended longer ago than the context is no company', () => {
  const times = withGroupContext(ASKED, LENGTHS, OFFSETS, 3);
  assert.deepEqual(
    times.map(({ series, time }) => [series, time]),
    [
      [0, 6],
      [2, 6],
      [2, 9],
    ],
  );
});

test('points of one time are one group, whatever the order they are asked in', () => {
  const points = [
    { series: 1, cutoff: 3 },
    { series: 0, cutoff: 4 },
  ];
  assert.deepEqual(withGroupContext(points, [4, 3], endAlignedOffsets([4, 3]), 9), [
    { series: 0, cutoff: 4, time: 4, asked: 1 },
    { series: 1, cutoff: 3, time: 4, asked: 0 },
  ]);
});
