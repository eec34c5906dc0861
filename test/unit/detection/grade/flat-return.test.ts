import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordResolution } from '../../../../src/detection/calibration/resolution.ts';
import { isFlatReturn } from '../../../../src/detection/grade/flat-return.ts';
import { SCALARS, SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { SeriesRings } from '../../../../src/detection/memory/series-rings.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const layout = seriesLayout(streamSettings({ h: 2, stepSize: 2, detectionSize: 2, context: 64 }));

/** Whether a flat series is back at the last row of these runs. */
function isBackAfter(...runs: readonly (readonly [rows: number, value: number])[]): boolean {
  const rings = new SeriesRings(new SeriesMemory(layout));
  const values = runs.flatMap(([rows, value]) => Array<number>(rows).fill(value));
  for (const [row, value] of values.entries()) rings.keepDistance(row, value);
  return isFlatReturn(rings, values.length - 1);
}

test('a flat series is back from the second row at the level that it left', () => {
  assert.ok(isBackAfter([30, 0], [10, 5], [2, 0]));
  assert.ok(!isBackAfter([30, 0], [10, 5], [1, 0]));
});

test('a series is not back where it was for few rows, at another level, or before it went away', () => {
  assert.ok(!isBackAfter([23, 0], [10, 5], [2, 0]));
  assert.ok(!isBackAfter([30, 0], [10, 5], [2, 1]));
  assert.ok(!isBackAfter([30, 0], [10, 5]));
  assert.ok(!isBackAfter([60, 0]));
});

test('a series is not back where it went before for fewer rows than it was where it comes from', () => {
  assert.ok(!isBackAfter([6, 1], [24, 0], [30, 1], [2, 0]));
  assert.ok(isBackAfter([6, 1], [26, 0], [20, 1], [2, 0]));
  assert.ok(isBackAfter([6, 2], [24, 0], [30, 1], [2, 0]));
});

test('missing values are no rest', () => {
  assert.ok(!isBackAfter([30, 1], [30, Number.NaN], [1, 0], [20, 1], [2, 0]));
  assert.ok(!isBackAfter([30, Number.NaN], [1, 5], [40, 7], [2, 5]));
});

test('missing values end no rest', () => {
  assert.ok(isBackAfter([15, 0], [2, Number.NaN], [15, 0], [10, 5], [1, Number.NaN], [2, 0]));
});

test('what has left the ring is forgotten', () => {
  assert.ok(!isBackAfter([100, 0], [60, 5], [2, 0]));
});

test('a series that has moved eight times is not flat any more', () => {
  const rings = new SeriesRings(new SeriesMemory(layout));
  const values = [...Array<number>(30).fill(0), ...Array<number>(10).fill(5), 0, 0];
  for (const [row, value] of values.entries()) rings.keepDistance(row, value);
  const at = rings.scalarIndex(SCALARS.resolution);
  for (let step = 0; step < 8; step++) recordResolution(rings.doubles, at, step);
  assert.ok(isFlatReturn(rings, values.length - 1));
  recordResolution(rings.doubles, at, 8);
  assert.ok(!isFlatReturn(rings, values.length - 1));
});
