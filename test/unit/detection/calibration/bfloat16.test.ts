import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BFLOAT_ROUNDING,
  bfloatBits,
  ofBfloatBits,
  roundToBfloat16,
} from '../../../../src/detection/calibration/bfloat16.ts';
import { fc } from '../../../fixture/fast-check.ts';

/** The smallest number whose 8 bits of precision are all there. */
const NORMAL_MIN = 2 ** -126;

test('every pattern of 16 bits is its own value', () => {
  for (let bits = 0; bits <= 0xffff; bits++) {
    const number = ofBfloatBits(bits);
    if (!Number.isNaN(number)) assert.equal(bfloatBits(number), bits);
  }
  assert.ok(Number.isNaN(roundToBfloat16(Number.NaN)));
});

test('a number is rounded to the nearest one, of two equally near ones to the even one', () => {
  const number = fc.float({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(number, (exact) => {
      const rounded = roundToBfloat16(exact);
      assert.ok(Number.isFinite(rounded));
      if (Math.abs(exact) < NORMAL_MIN || Math.abs(exact) > 3.38e38) return;
      assert.ok(Math.abs(rounded - exact) <= BFLOAT_ROUNDING * Math.abs(exact));
      assert.equal(roundToBfloat16(rounded), rounded);
      assert.equal(roundToBfloat16(-exact), -rounded);
    }),
  );
  assert.deepEqual([1 + 2 ** -8, 1 + 3 * 2 ** -8].map(roundToBfloat16), [1, 1 + 2 ** -6]);
});

/** Rows between one seed of the shape search and the next, with those of the seed. */
const ROWS_MAX = 40;

test('a distance of the shape search errs by its roundings alone, and has no direction', () => {
  const squares = fc.array(fc.double({ min: 0, max: 4, noNaN: true }), { minLength: ROWS_MAX, maxLength: ROWS_MAX });
  const errors: number[] = [];
  fc.assert(
    fc.property(squares, fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (each, first) => {
      let [exact, kept] = [first, roundToBfloat16(first)];
      for (const square of each) {
        exact = 0.8 * exact + 0.2 * square * square;
        kept = roundToBfloat16(Math.fround(0.8 * kept + 0.2 * square * square));
      }
      errors.push(kept / exact - 1);
      assert.ok(Math.abs(kept / exact - 1) <= ROWS_MAX * BFLOAT_ROUNDING * 1.1);
    }),
    { numRuns: 2_000, seed: 7 },
  );
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  assert.ok(Math.abs(mean) < 0.004, `${mean} on average`);
});
