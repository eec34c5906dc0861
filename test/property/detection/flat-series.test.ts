import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Unusualness } from '../../../src/detection/alarm/alarm.ts';
import { fc } from '../../fixture/fast-check.ts';
import { contextForecaster } from '../../fixture/models/context-forecaster.ts';
import { detectSeries } from '../../fixture/stream/stream-detection.ts';
import { streamSettings } from '../../fixture/stream/stream-run.ts';

const SETTINGS = streamSettings({ h: 24, detectionSize: 24, stepSize: 24, calibrationSize: 288, context: 512 });
/** Each of z, d and n counts once, w three times. */
const TERMS = 6;

const { limits, forecast } = contextForecaster((context) => context.at(-1)!);
/** Without a deviation of its own, which would be that of a series with a scale. */
const lastValue = { limits, forecast };

/** What the first move of a series shows that was flat before. */
async function firstMove(level: number, rows: number, value: number): Promise<Unusualness> {
  const values = Array.from({ length: rows + 1 }, (_, row) => (row < rows ? level : value));
  return (await detectSeries(values, SETTINGS, lastValue)).at(-1)!.unusual!;
}

const size = fc
  .record({ digits: fc.double({ min: 1, max: 10, noNaN: true }), power: fc.integer({ min: -9, max: 9 }) })
  .map(({ digits, power }) => digits * 10 ** power);

test('the first move of a flat series counts for no more than as many rows are evidence for, whatever its size and digits', async () => {
  const level = fc.oneof(fc.constant(0), size);
  await fc.assert(
    fc.asyncProperty(level, size, fc.integer({ min: 24, max: 300 }), async (from, move, rows) => {
      const { sharp, wide } = await firstMove(from, rows, from + move);
      assert.ok(sharp <= TERMS * (rows + 1) && wide <= TERMS * (rows + 1), `${sharp} after ${rows} rows`);
    }),
    { numRuns: 100 },
  );
});

test('a series that was flat for long shows its first move the more the longer it was', async () => {
  const shown = await Promise.all([30, 100, 300].map((rows) => firstMove(0, rows, 0.001484)));
  const sharps = shown.map(({ sharp }) => sharp);
  assert.deepEqual(
    sharps,
    sharps.toSorted((a, b) => a - b),
  );
  assert.ok(sharps[0] < sharps[1] && sharps[2] > 300, String(sharps));
});
