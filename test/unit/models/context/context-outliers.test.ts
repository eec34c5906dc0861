import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillGaps } from '../../../../src/models/context/context-gaps.ts';
import { holdOutliers } from '../../../../src/models/context/context-outliers.ts';
import { fc } from '../../../fixture/fast-check.ts';

const LENGTH = 256;

function held(values: ArrayLike<number>): number[] {
  const context = Float32Array.from(values);
  holdOutliers(context);
  return [...context];
}

function filled(values: ArrayLike<number>): number[] {
  const context = Float32Array.from(held(values));
  fillGaps(context);
  return [...context];
}

/** Noise between -1 and 1 that looks random, the same in every run. */
const noise = (i: number) => ((i * 7919 + 13 * ((i * i) % 101)) % 1000) / 500 - 1;
const contextOf = (valueAt: (i: number) => number) => Float32Array.from({ length: LENGTH }, (_, i) => valueAt(i));
const withValues = (context: Float32Array, values: Readonly<Record<number, number>>) =>
  Object.assign(context.slice(), values);

test('ordinary contexts stay as they are: noise, a season, a walk, a ramp, steps', () => {
  let level = 0;
  for (const valueAt of [
    noise,
    (i: number) => 10 * Math.sin(i / 4) + noise(i),
    (i: number) => {
      level += noise(i);
      return level;
    },
    (i: number) => 3 * i,
    (i: number) => Math.floor(i / 50),
  ]) {
    const context = contextOf(valueAt);
    assert.deepEqual(held(context), [...context]);
  }
});

test('a flat context with two odd values on either side is flat', () => {
  const context = withValues(
    contextOf(() => 20),
    { 3: 1e38, 100: 29, 101: -5, 255: -1e5 },
  );
  assert.deepEqual(filled(context), new Array(LENGTH).fill(20));
});

test('the third spike of a sparse series shows that spikes of its size are part of it', () => {
  const two = withValues(
    contextOf(() => 0),
    { 40: 50, 120: 80 },
  );
  assert.deepEqual(filled(two), new Array(LENGTH).fill(0));
  const three = withValues(two, { 200: 60 });
  const actual = [40, 120, 200].map((i) => held(three)[i]);
  assert.deepEqual(actual, [50, 50, 50]);
  const six = withValues(three, { 210: 70, 220: 55, 230: 65 });
  assert.deepEqual(held(six), [...six]);
});

test('a glitch of up to four values that leave the range by more than its width is missing', () => {
  for (const glitch of [5, 1e5, 1e38, -1e5]) {
    for (const rows of [[90], [90, 91], [90, 91, 92], [90, 91, 92, 93], [90, 93], [252, 253, 254, 255]]) {
      const at = (value: number) => Object.fromEntries(rows.map((row) => [row, value]));
      const context = withValues(contextOf(noise), at(glitch));
      assert.deepEqual(held(context), [...withValues(context, at(Number.NaN))]);
    }
    for (const rows of [
      [90, 91, 92, 93, 94],
      [90, 91, 200, 201],
    ]) {
      const more = withValues(contextOf(noise), Object.fromEntries(rows.map((row) => [row, glitch])));
      assert.deepEqual(held(more), [...more]);
    }
  }
  const near = withValues(contextOf(noise), { 90: 2.5 });
  assert.deepEqual(held(near), [...near]);
});

test('one or two spikes within the range are missing if no other value is half as far from its neighbours', () => {
  const season = contextOf((i) => 100 + 20 * Math.sin((2 * Math.PI * i) / 24) + noise(i));
  const spikes = (rows: readonly number[]) =>
    withValues(season, Object.fromEntries(rows.map((row) => [row, season[row] + (row % 2 === 0 ? 15 : -15)])));
  for (const rows of [[90], [90, 141], [97]]) {
    const missing = Object.fromEntries(rows.map((row) => [row, Number.NaN]));
    assert.deepEqual(held(spikes(rows)), [...withValues(season, missing)]);
  }
  assert.deepEqual(held(spikes([90, 141, 200])), [...spikes([90, 141, 200])]);
  const jobs = contextOf((i) => (i % 24 === 7 ? 60 : 20) + noise(i));
  assert.deepEqual(held(jobs), [...jobs]);
});

test('a glitch in a season leaves the season', () => {
  const context = contextOf((i) => 100 + 20 * Math.sin((2 * Math.PI * i) / 24) + noise(i));
  for (const glitch of [200, 2_000, 1e9, 0, -1e5]) {
    const values = filled(withValues(context, { 90: glitch }));
    assert.ok(Math.abs(values[90] - context[90]) < 4, `${values[90]}, not ${context[90]}`);
  }
});

test('a new level is believed once it has lasted longer than a glitch, in a short context from its third value on', () => {
  const atNewLevel = (count: number, length = LENGTH) =>
    Float32Array.from({ length }, (_, i) => (i >= length - count ? 1000 : noise(i)));
  for (const count of [1, 2, 3, 4]) assert.ok(filled(atNewLevel(count)).at(-1)! <= 1, `${count} values`);
  assert.deepEqual(held(atNewLevel(5)), [...atNewLevel(5)]);
  const second = held(atNewLevel(2, 60)).slice(-2);
  assert.ok(second[0] > 10 && second[0] === second[1], `${second}`);
  assert.deepEqual(held(atNewLevel(3, 60)), [...atNewLevel(3, 60)]);
});

test('a last value that leaps out of the range counts as the one before, and its successor confirms it', () => {
  const season = (i: number) => 10 * Math.sin(i / 4) + noise(i);
  const leap = withValues(contextOf(season), { [LENGTH - 1]: 25 });
  assert.equal(held(leap).at(-1), leap[LENGTH - 2]);
  const confirmed = withValues(leap, { [LENGTH - 2]: 26 });
  assert.deepEqual(held(confirmed), [...confirmed]);
  const returned = withValues(contextOf(season), { [LENGTH - 2]: 40 });
  assert.deepEqual(held(returned), [...withValues(returned, { [LENGTH - 2]: Number.NaN })]);
});

test('the last value of a short context is not held for its step', () => {
  const context = Float32Array.from({ length: 60 }, (_, i) => (i === 59 ? 20 : noise(i)));
  assert.ok(held(context).at(-1)! > 10);
});

test('missing values and padding change nothing', () => {
  const context = withValues(contextOf(noise), { 90: 1e5, 255: 500 });
  const padded = Float32Array.of(...new Array(64).fill(Number.NaN), ...context, Number.NaN);
  assert.deepEqual(held(padded).slice(64, -1), held(context));
  const infinite = withValues(context, { 10: Number.POSITIVE_INFINITY });
  assert.equal(held(infinite)[10], Number.POSITIVE_INFINITY);
  assert.deepEqual(held([Number.NaN, Number.NaN]), [Number.NaN, Number.NaN]);
});

test('what is held does not depend on level and scale', () => {
  const values = fc.array(fc.integer({ min: -40, max: 40 }), { minLength: LENGTH, maxLength: LENGTH });
  const odd = fc.array(fc.tuple(fc.integer({ min: 0, max: LENGTH - 1 }), fc.integer({ min: -30, max: 30 })), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(values, odd, fc.integer({ min: -6, max: 6 }), (ordinary, outliers, exponent) => {
      const context = Float32Array.from(ordinary);
      for (const [at, size] of outliers) context[at] = 256 * size;
      const scale = 2 ** exponent;
      const plain = held(context);
      held(context.map((value) => value * scale)).forEach((value, i) => {
        if (Number.isNaN(plain[i])) assert.ok(Number.isNaN(value), `value ${i}: ${value}`);
        else assert.ok(Math.abs(value / scale - plain[i]) <= 1e-3, `value ${i}: ${value / scale}, not ${plain[i]}`);
      });
      held(context.map((value) => 1024 - value)).forEach((value, i) => {
        if (Number.isNaN(plain[i])) assert.ok(Number.isNaN(value), `value ${i}: ${value}`);
        else assert.ok(Math.abs(1024 - value - plain[i]) <= 1e-2, `value ${i}: ${1024 - value}, not ${plain[i]}`);
      });
    }),
  );
});
