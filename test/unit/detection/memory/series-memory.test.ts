import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bfloatStartOf,
  doubleStartOf,
  floatStartOf,
  type SeriesBlock,
  SeriesMemory,
  seriesLayout,
} from '../../../../src/detection/memory/series-memory.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

test('a series of context 512 and 288 residuals takes at most 3 KB without a grade, and 4 KB with it', () => {
  const bytes = (alarmRate: number | null) =>
    seriesLayout(streamSettings({ detectionSize: 24, context: 512, calibrationSize: 288, alarmRate })).blockBytes;
  assert.ok(bytes(null) <= 3_000);
  assert.ok(bytes(0.001) <= 4_000);
});

/** The numbers of a block, of each kind. */
function numbersOf(block: SeriesBlock) {
  const { doubles, floats, bfloats, halves, layout } = block.slab;
  const own = (start: number, count: number) => [start, start + count] as const;
  return [
    doubles.subarray(...own(doubleStartOf(block), layout.doubles)),
    floats.subarray(...own(floatStartOf(block), layout.floats)),
    bfloats.subarray(...own(bfloatStartOf(block), layout.bfloats)),
    halves.subarray(...own(bfloatStartOf(block) + layout.bfloats, layout.halves)),
  ];
}

test('a released block is used again, and looks like new', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const block = memory.allocate();
  const fresh = numbersOf(block).map((numbers) => numbers.slice());
  for (const numbers of numbersOf(block)) numbers.fill(7);
  memory.release(block);
  const again = memory.allocate();
  assert.equal(again, block);
  assert.deepEqual(numbersOf(again), fresh);
});

test('of the pages of a large slab less than a 256th of each block is unused', () => {
  const profile = { calendar: UTC_CALENDAR, stepMs: 1_000 };
  const settings = { detectionSize: 24, context: 512, calibrationSize: 288, alarmRate: 0.001, profile };
  const layout = seriesLayout(streamSettings(settings));
  const memory = new SeriesMemory(layout);
  let slab = memory.allocate().slab;
  for (let i = 0; i < 2_000; i++) slab = memory.allocate().slab;
  const { byteLength } = slab.floats.buffer;
  // The system adds 16 bytes to what it allocates in pages.
  const unused = (4_096 - ((byteLength + 16) % 4_096)) % 4_096;
  assert.ok(unused / (byteLength / layout.blockBytes) < layout.blockBytes / 256, `${unused} of ${byteLength} bytes`);
});

test('blocks do not overlap', () => {
  const memory = new SeriesMemory(seriesLayout(streamSettings()));
  const blocks = Array.from({ length: 200 }, () => memory.allocate());
  blocks.forEach((block, i) => {
    for (const numbers of numbersOf(block)) numbers.fill(i);
  });
  blocks.forEach((block, i) => {
    for (const numbers of numbersOf(block)) assert.ok(numbers.every((value) => value === i));
  });
});
