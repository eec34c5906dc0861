import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillGaps } from '../../../../src/models/context/context-gaps.ts';
import { fc } from '../../../fixture/fast-check.ts';

/** Noise between -1 and 1 that looks random, the same in every run. */
const noise = (i: number) => ((i * 7919 + 13 * ((i * i) % 101)) % 1000) / 500 - 1;
const contextOf = (length: number, valueAt: (i: number) => number) =>
  Float32Array.from({ length }, (_, i) => valueAt(i));

/** The context without the rows, filled. */
function filledWithout(context: Float32Array, missing: readonly number[]): Float32Array {
  const copy = context.slice();
  for (const at of missing) copy[at] = Number.NaN;
  fillGaps(copy);
  return copy;
}

const range = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);
const SEASONS: Readonly<Record<string, (i: number) => number>> = {
  wave: (i) => 100 + 20 * Math.sin((2 * Math.PI * i) / 24) + noise(i),
  week: (i) => [100, 105, 103, 110, 120, 60, 40][i % 7] + noise(i),
  job: (i) => (i % 24 === 3 ? 500 : 20) + noise(i),
  saw: (i) => 10 * (i % 10) + noise(i),
  'growing wave': (i) => i / 2 + 20 * Math.sin((2 * Math.PI * i) / 24) + noise(i),
};

for (const [name, valueAt] of Object.entries(SEASONS)) {
  for (const length of [192, 512]) {
    test(`missing values of a ${name} of ${length} values are filled in phase: one, a run, the last ones`, () => {
      const context = contextOf(length, valueAt);
      for (const missing of [[length - 20], range(length - 40, length - 32), range(length - 5, length)]) {
        const filled = filledWithout(context, missing);
        for (const at of missing) assert.ok(Math.abs(filled[at] - context[at]) < 4, `${at}: ${filled[at]}`);
      }
    });
  }
}

test('values behind a step are filled at the new level', () => {
  const context = contextOf(240, (i) => (i < 200 ? 100 : 300) + 20 * Math.sin((2 * Math.PI * i) / 24));
  for (const at of [215, 225]) assert.ok(Math.abs(filledWithout(context, [at])[at] - context[at]) < 4);
});

test('without a season a line bridges eight rows; longer runs and those at the end stay missing', () => {
  let level = 0;
  const context = contextOf(200, (i) => {
    level += noise(i) + noise(3 * i + 1);
    return level;
  });
  const bridged = filledWithout(context, range(100, 108));
  const between = context[99] + (4 / 9) * (context[108] - context[99]);
  assert.ok(Math.abs(bridged[103] - between) < 1e-4);
  assert.ok(range(100, 109).every((at) => Number.isNaN(filledWithout(context, range(100, 109))[at]) === at < 109));
  assert.ok(Number.isNaN(filledWithout(context, [198, 199])[199]));
});

test('observed values stay, and so does what precedes the first one', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.float({ noNaN: true, min: -1e6, max: 1e6 }), { nil: Number.NaN })), (values) => {
      const context = Float32Array.from(values);
      const filled = context.slice();
      fillGaps(filled);
      const first = context.findIndex((value) => !Number.isNaN(value));
      context.forEach((value, i) => {
        if (!Number.isNaN(value) || first < 0 || i < first) assert.equal(filled[i], value);
        else assert.ok(Number.isNaN(filled[i]) || Number.isFinite(filled[i]));
      });
    }),
  );
});
