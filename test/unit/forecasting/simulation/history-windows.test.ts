import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  markGaps,
  windowsWithoutGaps,
  withoutTrendAndSeason,
} from '../../../../src/forecasting/simulation/history-windows.ts';
import { fc } from '../../../fixture/fast-check.ts';

test('what is left has neither trend nor season, at any scale, and keeps its gaps', () => {
  for (const scale of [1e-30, 1, 1e38]) {
    const values = Float64Array.from({ length: 70 }, (_, t) => scale * (t / 35 + Math.sin((2 * Math.PI * t) / 7)));
    values[12] = Number.NaN;
    const left = withoutTrendAndSeason(values, 7);
    left.forEach((value, t) => {
      if (t === 12) assert.ok(Number.isNaN(value));
      else assert.ok(Math.abs(value) < 0.1, `${value} at ${t}`);
    });
  }
});

test('a history of less than two seasons keeps its season', () => {
  const values = Float64Array.from({ length: 13 }, (_, t) => Math.sin((2 * Math.PI * t) / 7));
  assert.ok(withoutTrendAndSeason(values, 7).some((value) => Math.abs(value) > 0.5));
});

test('windows without gaps are those, and all of those, in which no history misses a value', () => {
  const histories = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(histories, fc.integer({ min: 1, max: 8 }), (missing, h) => {
      const all = missing.map((flags) => Float64Array.from(flags, (flag) => (flag ? Number.NaN : 1)));
      const reach = Math.min(...all.map(({ length }) => length));
      const gaps = new Uint8Array(reach);
      for (const values of all) markGaps(gaps, values);
      const isWindow = (back: number) =>
        all.every((values) => {
          const start = values.length - back;
          return values.subarray(start, start + h).every((value) => !Number.isNaN(value));
        });
      const expected = Array.from({ length: reach }, (_, i) => i + 1).filter((back) => back >= h && isWindow(back));
      assert.deepEqual([...windowsWithoutGaps(gaps, h)], expected);
    }),
  );
});
