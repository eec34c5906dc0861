import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawWindows, planWindows } from '../../../src/models/tuning/windows.ts';
import { fc } from '../../fixture/fast-check.ts';

const lengths = fc.array(fc.oneof(fc.nat(20), fc.nat(2_000)), { minLength: 1, maxLength: 40 });

test('no training window contains held-out values, and every window lies in its series', () => {
  fc.assert(
    fc.property(
      lengths,
      fc.integer({ min: 1, max: 128 }),
      fc.integer({ min: 1, max: 64 }),
      (sizes, horizon, rowsMax) => {
        const { training, validation } = planWindows(sizes, horizon, rowsMax);
        assert.ok(validation.length <= rowsMax);
        const heldOutFrom = new Map<number, number>();
        for (const { series, cutoff, end } of validation) {
          assert.ok(cutoff >= 1 && end > cutoff && end <= sizes[series] && end - cutoff <= horizon);
          heldOutFrom.set(series, Math.min(heldOutFrom.get(series) ?? Number.POSITIVE_INFINITY, cutoff));
        }
        for (const random of [() => 0, () => 0.999_999]) {
          if (training.length === 0) break;
          const sampling = { count: 2 * training.length, firstTurn: 0, signSymmetric: true, random };
          for (const { series, cutoff, end, augmentation } of drawWindows(training, sampling)) {
            assert.ok(cutoff >= 1 && end > cutoff && end - cutoff <= horizon);
            const usable = Math.min(sizes[series], heldOutFrom.get(series) ?? Number.POSITIVE_INFINITY);
            assert.ok(end <= usable);
            if (augmentation === undefined) continue;
            const { contextShare, mixCutoff, mixWeight } = augmentation;
            assert.ok(mixCutoff >= 1 && mixCutoff + end - cutoff <= usable);
            assert.ok(contextShare > 0 && contextShare <= 1 && mixWeight >= 0 && mixWeight < 1);
          }
        }
        const trained = new Set(training.map(({ series }) => series));
        sizes.forEach((size, series) => {
          assert.equal(trained.has(series), size >= 2, `series ${series} of ${size}`);
        });
      },
    ),
  );
});
