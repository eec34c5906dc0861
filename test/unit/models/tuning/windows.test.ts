import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawWindows, planWindows } from '../../../../src/models/tuning/windows.ts';

const sampling = { count: 2, firstTurn: 0, signSymmetric: true, random: () => 0.5 };

test('two values are enough: one of context and one of target', () => {
  const { training, validation } = planWindows([2], 24, 32);
  assert.deepEqual(training, [{ series: 0, first: 1, last: 1, horizon: 1 }]);
  assert.deepEqual(validation, []);
  const augmentation = { contextShare: 0.625, mixCutoff: 1, mixWeight: 0.5, negated: false };
  assert.deepEqual(drawWindows(training, sampling), [
    { series: 0, cutoff: 1, end: 2, augmentation },
    { series: 0, cutoff: 1, end: 2, augmentation },
  ]);
});

test('shorter series have no training windows, and the others keep their indices', () => {
  const { training } = planWindows([1, 0, 40], 4, 32);
  const actual = training.map(({ series }) => series);
  assert.deepEqual(actual, [2]);
  assert.deepEqual(planWindows([1, 0], 4, 32), { training: [], all: [], validation: [] });
});

test('a fifth of a long series is held out, and validation windows reach its end', () => {
  const { training, all, validation } = planWindows([500], 24, 32);
  assert.deepEqual(training, [{ series: 0, first: 16, last: 376, horizon: 24 }]);
  assert.deepEqual(all, [{ series: 0, first: 16, last: 476, horizon: 24 }]);
  assert.equal(validation.length, 8);
  assert.deepEqual(validation[0], { series: 0, cutoff: 476, end: 500 });
  assert.deepEqual(validation.at(-1), { series: 0, cutoff: 400, end: 424 });
});

test('of many series evenly spaced ones are validated, each on its newest windows first', () => {
  const { validation } = planWindows(Array(64).fill(500), 24, 32);
  assert.equal(validation.length, 32);
  const actual = validation.map(({ series }) => series);
  const expected = Array.from({ length: 32 }, (_, i) => 2 * i);
  assert.deepEqual(actual, expected);
  assert.ok(validation.every(({ end }) => end === 500));
});

test('batches take the series in turns, and continue where the last one ended', () => {
  const { training } = planWindows([100, 200, 300], 10, 32);
  const first = drawWindows(training, { ...sampling, count: 4 }).map(({ series }) => series);
  const second = drawWindows(training, { ...sampling, count: 4, firstTurn: 4 }).map(({ series }) => series);
  assert.deepEqual([...first, ...second], [0, 1, 2, 0, 1, 2, 0, 1]);
});

test('half of the windows are augmented, and negated only for a loss that accepts negative values', () => {
  const { training } = planWindows([100], 10, 32);
  const negated = (signSymmetric: boolean) => {
    let draws = 0;
    const low = () => (++draws % (signSymmetric ? 6 : 5) === 0 ? 0.9 : 0.4);
    return drawWindows(training, { ...sampling, signSymmetric, random: low }).map(
      ({ augmentation }) => augmentation?.negated,
    );
  };
  assert.deepEqual(negated(true), [true, true]);
  assert.deepEqual(negated(false), [false, false]);
  assert.equal(drawWindows(training, { ...sampling, random: () => 0.4 })[0].augmentation, undefined);
});
