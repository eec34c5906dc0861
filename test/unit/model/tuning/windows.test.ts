import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawWindows, planWindows } from '../../../../src/model/tuning/windows.ts';

const chance = () => 0.5;

test('two values are enough: one to see, and the one that follows', () => {
  const { training, validation } = planWindows([2], 24, 32);
  assert.deepEqual(training, [{ series: 0, first: 1, last: 1, horizon: 1 }]);
  assert.deepEqual(validation, []);
  const varied = { shown: 0.625, other: 1, share: 0.5, upsideDown: false };
  assert.deepEqual(drawWindows(training, 2, 0, true, chance), [
    { series: 0, cutoff: 1, end: 2, varied },
    { series: 0, cutoff: 1, end: 2, varied },
  ]);
});

test('series with less teach nothing, and the others keep their numbers', () => {
  const { training } = planWindows([1, 0, 40], 4, 32);
  assert.deepEqual(
    training.map(({ series }) => series),
    [2],
  );
  assert.deepEqual(planWindows([1, 0], 4, 32), { training: [], all: [], validation: [] });
});

test('a fifth of a long series is held back, and judged up to its end', () => {
  const { training, all, validation } = planWindows([500], 24, 32);
  assert.deepEqual(training, [{ series: 0, first: 16, last: 376, horizon: 24 }]);
  assert.deepEqual(all, [{ series: 0, first: 16, last: 476, horizon: 24 }]);
  assert.equal(validation.length, 8);
  assert.deepEqual(validation[0], { series: 0, cutoff: 476, end: 500 });
  assert.deepEqual(validation.at(-1), { series: 0, cutoff: 400, end: 424 });
});

test('of many series evenly spaced ones are judged, each by its newest windows first', () => {
  const { validation } = planWindows(Array(64).fill(500), 24, 32);
  assert.equal(validation.length, 32);
  assert.deepEqual(
    validation.map(({ series }) => series),
    Array.from({ length: 32 }, (_, i) => 2 * i),
  );
  assert.ok(validation.every(({ end }) => end === 500));
});

test('a batch takes series in turns, and goes on where the last one ended', () => {
  const { training } = planWindows([100, 200, 300], 10, 32);
  const first = drawWindows(training, 4, 0, true, chance).map(({ series }) => series);
  const second = drawWindows(training, 4, 4, true, chance).map(({ series }) => series);
  assert.deepEqual([...first, ...second], [0, 1, 2, 0, 1, 2, 0, 1]);
});

test('half of the windows are varied, and turned upside down only where that teaches as much', () => {
  const { training } = planWindows([100], 10, 32);
  const turned = (turnable: boolean) => {
    let draws = 0;
    const low = () => (++draws % (turnable ? 6 : 5) === 0 ? 0.9 : 0.4);
    return drawWindows(training, 2, 0, turnable, low).map(({ varied }) => varied!.upsideDown);
  };
  assert.deepEqual(turned(true), [true, true]);
  assert.deepEqual(turned(false), [false, false]);
  assert.equal(drawWindows(training, 1, 0, true, () => 0.4)[0].varied, undefined);
});
