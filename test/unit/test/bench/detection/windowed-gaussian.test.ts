import assert from 'node:assert/strict';
import test from 'node:test';
import { windowedGaussian } from '../../../../bench/detection/windowed-gaussian.ts';

test('a value is judged by the mean and the deviation of those before it', () => {
  // Mean 1, deviation 1: 3 is two deviations off. Then mean 5/3, variance 14/9.
  const [first, , third, fourth] = windowedGaussian(Float64Array.of(0, 2, 3, 0));
  assert.deepEqual([first, third], [0, 0.977249868052]);
  assert.ok(Math.abs(fourth! - 0.909275) < 1e-6);
});
