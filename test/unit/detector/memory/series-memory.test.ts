import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCutoff } from '../../../../src/detector/calibration/cutoff-grid.ts';
import {
  forecastedPositions,
  SCALARS,
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

test('a series of context 512 and 288 residuals takes at most 3.5 KB without a grade, and 5.5 KB with it', () => {
  const bytesOf = (alarmRate: number | null) => {
    const settings = streamSettings({ detectionSize: 24, context: 512, calibrationSize: 288, alarmRate });
    const { floats, doubles } = seriesLayout(settings);
    return floats * 4 + doubles * 8;
  };
  assert.ok(bytesOf(null) <= 3_500);
  assert.ok(bytesOf(0.001) <= 5_500);
});

test('a released block is used again, and looks like new', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const block = memory.allocate();
  block.slab.floats.fill(7, block.floatStart, block.floatStart + memory.layout.floats);
  block.slab.doubles.fill(7, block.doubleStart, block.doubleStart + memory.layout.doubles);
  memory.release(block);
  const again = memory.allocate();
  assert.equal(again, block);
  assert.ok(Number.isNaN(again.slab.floats[again.floatStart]));
  assert.equal(again.slab.floats[again.floatStart + memory.layout.sumStart], 0);
  assert.equal(again.slab.doubles[again.doubleStart + SCALARS.floor], 0);
});

test('blocks do not overlap', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const blocks = Array.from({ length: 200 }, () => memory.allocate());
  blocks.forEach((block, i) => {
    block.slab.floats.fill(i, block.floatStart, block.floatStart + memory.layout.floats);
  });
  blocks.forEach((block, i) => {
    const own = block.slab.floats.subarray(block.floatStart, block.floatStart + memory.layout.floats);
    assert.ok(own.every((value) => value === i));
  });
});
