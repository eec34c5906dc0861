import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers } from '../../../../src/forecasting/simulation/random-numbers.ts';
import { dealWindows, pathOrder } from '../../../../src/forecasting/simulation/schaake-shuffle.ts';
import { fc } from '../../../fixture/fast-check.ts';

const seeds = fc.uint8Array({ minLength: 16, maxLength: 16 });

test('windows are drawn as evenly as can be', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 100 }), (seed, windows, count) => {
      const drawn = dealWindows(
        Uint32Array.from({ length: windows }, (_, i) => i),
        count,
        randomNumbers(seed),
      );
      const times = Array.from({ length: windows }, (_, window) => drawn.filter((one) => one === window).length);
      assert.equal(drawn.length, count);
      assert.ok(Math.max(...times) - Math.min(...times) <= 1, String(times));
    }),
  );
});

test('paths have the order of their windows, at random among equal values', () => {
  const history = Float64Array.of(5, 1, 3, 3, 9);
  // The second values of the windows are 1, 9, 3 and 3.
  const windows = Uint32Array.of(5, 2, 4, 3);
  const orders = new Set<string>();
  fc.assert(
    fc.property(seeds, (seed) => {
      const order = pathOrder(history, windows, 1, randomNumbers(seed));
      assert.deepEqual([order[0], order[3]], [0, 1]);
      assert.deepEqual([...order].sort(), [0, 1, 2, 3]);
      orders.add(String(order));
    }),
  );
  assert.equal(orders.size, 2);
});

test('random numbers are the same for the same seed alone, and uniform', () => {
  const drawn = (seed: Uint8Array) => Array.from({ length: 5 }, randomNumbers(seed));
  const [zero, one] = [new Uint8Array(16), new Uint8Array(16).fill(1, 15)];
  assert.deepEqual(drawn(one), drawn(one));
  assert.notDeepEqual(drawn(one), drawn(zero));
  const many = Array.from({ length: 100_000 }, randomNumbers(zero));
  const bins = Array.from({ length: 10 }, (_, bin) => many.filter((value) => Math.floor(value * 10) === bin).length);
  assert.ok(Math.min(...bins) > 9_600 && Math.max(...bins) < 10_400, String(bins));
});
