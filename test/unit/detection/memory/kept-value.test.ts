import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptValue } from '../../../../src/detection/memory/kept-value.ts';

test('a value that is kept as a float32 distance is the roundest one that is kept alike', () => {
  for (const [origin, value] of [
    [47.3, 51.16],
    [0, 0],
    [81.38, 0],
    [1_408_612_000_000, 0],
    [-6.2, 0],
    [0.9852, 0],
    [1_408_612_000_000, 1_408_612_377_120],
    [100, -0.001],
    [1e-7, 3e-7],
  ]) {
    assert.equal(keptValue(origin, Math.fround(value - origin)), value);
  }
  assert.equal(keptValue(0, Math.fround(1 / 3)), 0.33333334);
});
