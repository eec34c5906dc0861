import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCutoff } from '../../../../src/detector/calibration/cutoff-grid.ts';
import {
  bytesOf,
  forecastedPositions,
  type SeriesBlock,
  SeriesMemory,
  seriesLayout,
} from '../../../../src/detector/memory/series-memory.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

test('forecasted positions are those in the horizon of a cutoff', () => {
  for (const shape of [
    { h: 4, stepSize: 4, detectionSize: 4 },
    { h: 6, stepSize: 3, detectionSize: 6 },
    { h: 2, stepSize: 5, detectionSize: 5 },
  ]) {
    const settings = streamSettings(shape);
    const covered = new Set<number>();
    for (let cutoff = 0; cutoff < 100; cutoff++) {
      if (isCutoff(cutoff, settings)) for (let k = 0; k < settings.h; k++) covered.add(cutoff + k);
    }
    for (let end = 0; end < 90; end++) {
      const counted = [...covered].filter((position) => position < end).length;
      assert.equal(forecastedPositions(end, settings), counted, `h ${shape.h}, s ${shape.stepSize}, end ${end}`);
    }
  }
});

test('a series of context 512 and 288 residuals takes at most 3 KB without a grade, and 4 KB with it', () => {
  const bytes = (alarmRate: number | null) =>
    bytesOf(seriesLayout(streamSettings({ detectionSize: 24, context: 512, calibrationSize: 288, alarmRate })));
  assert.ok(bytes(null) <= 3_000);
  assert.ok(bytes(0.001) <= 4_000);
});

/** The numbers of a block, of each kind. */
function numbersOf({ slab, index }: SeriesBlock) {
  const own = (length: number) => [index * length, (index + 1) * length] as const;
  const { floats, doubles, bfloats, halves, layout } = slab;
  return {
    floats: floats.subarray(...own(layout.floats)),
    doubles: doubles.subarray(...own(layout.doubles)),
    bfloats: bfloats.subarray(...own(layout.bfloats)),
    halves: halves.subarray(...own(layout.halves)),
  };
}

test('a released block is used again, and looks like new', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const block = memory.allocate();
  const fresh = Object.values(numbersOf(block)).map((numbers) => numbers.slice());
  for (const numbers of Object.values(numbersOf(block))) numbers.fill(7);
  memory.release(block);
  const again = memory.allocate();
  assert.equal(again, block);
  assert.deepEqual(Object.values(numbersOf(again)), fresh);
});

test('blocks do not overlap', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const blocks = Array.from({ length: 200 }, () => memory.allocate());
  blocks.forEach((block, i) => {
    for (const numbers of Object.values(numbersOf(block))) numbers.fill(i);
  });
  blocks.forEach((block, i) => {
    for (const numbers of Object.values(numbersOf(block))) assert.ok(numbers.every((value) => value === i));
  });
});
