import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { drawWindows, planWindows } from '../../src/model/tuning/windows.ts';

const lengths = fc.array(fc.oneof(fc.nat(20), fc.nat(2_000)), { minLength: 1, maxLength: 40 });

test('no training window sees what is held back, and every window lies in its series', () => {
  fc.assert(
    fc.property(
      lengths,
      fc.integer({ min: 1, max: 128 }),
      fc.integer({ min: 1, max: 64 }),
      (sizes, horizon, rowsMax) => {
        const { training, validation } = planWindows(sizes, horizon, rowsMax);
        assert.ok(validation.length <= rowsMax);
        const heldFrom = new Map<number, number>();
        for (const { series, cutoff, end } of validation) {
          assert.ok(cutoff >= 1 && end > cutoff && end <= sizes[series] && end - cutoff <= horizon);
          heldFrom.set(series, Math.min(heldFrom.get(series) ?? Number.POSITIVE_INFINITY, cutoff));
        }
        for (const luck of [() => 0, () => 0.999_999]) {
          if (training.length === 0) break;
          for (const { series, cutoff, end, varied } of drawWindows(training, 2 * training.length, 0, true, luck)) {
            assert.ok(cutoff >= 1 && end > cutoff && end - cutoff <= horizon);
            const usable = Math.min(sizes[series], heldFrom.get(series) ?? Number.POSITIVE_INFINITY);
            assert.ok(end <= usable);
            if (varied === undefined) continue;
            assert.ok(varied.other >= 1 && varied.other + end - cutoff <= usable);
            assert.ok(varied.shown > 0 && varied.shown <= 1 && varied.share >= 0 && varied.share < 1);
          }
        }
        const taught = new Set(training.map(({ series }) => series));
        sizes.forEach((size, series) => {
          assert.equal(taught.has(series), size >= 2, `series ${series} of ${size}`);
        });
      },
    ),
  );
});
