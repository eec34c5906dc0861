import assert from 'node:assert/strict';
import test from 'node:test';
import { readAlias } from '../../../src/time/frequency.ts';
import { seasonLength } from '../../../src/time/season.ts';

const seasonsOf = (...aliases: string[]) => aliases.map((alias) => seasonLength(readAlias(alias)!));

test('the season is the shortest natural cycle that is longer than a step', () => {
  assert.deepEqual(seasonsOf('us', 's', '5min', 'h', 'bh', 'B', 'D'), [1000, 3600, 288, 24, 8, 5, 7]);
  assert.deepEqual(seasonsOf('W', 'SM', 'MS', 'QS', 'HYS', 'YS'), [52, 24, 12, 4, 2, 1]);
});

test('a cycle of few steps is multiplied until it is a whole number of steps', () => {
  assert.deepEqual(seasonsOf('2D', '3D', '7h', '5MS', '2B'), [7, 7, 24, 12, 5]);
});

test('a cycle of many steps is rounded, and no season is shorter than a step', () => {
  assert.deepEqual(seasonsOf('7min', '36h', '30D', '104W', '3YS'), [206, 5, 12, 1, 1]);
});
