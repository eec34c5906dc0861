import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rarityOf, recordExtremes } from '../../../../../src/detection/event/kind/event-extremes.ts';
import { forecastGridOf, SeriesMemory, seriesLayout } from '../../../../../src/detection/memory/series-memory.ts';
import { SeriesRings } from '../../../../../src/detection/memory/series-rings.ts';
import { fc } from '../../../../fixture/fast-check.ts';
import { streamSettings } from '../../../../fixture/stream/stream-run.ts';

const WINDOW = 4;
const CONTEXT = 32;

/** Keeps these values as a series does. Returns how rare the last one is, in an event that began `span` rows before. */
function rarityOfLast(values: readonly number[], side: 'highest' | 'lowest', { span = 0, phase = 0 } = {}) {
  const rings = new SeriesRings(
    new SeriesMemory(seriesLayout(streamSettings({ detectionSize: WINDOW, context: CONTEXT }))),
  );
  rings.grid = forecastGridOf(rings.layout, phase);
  const kept = { rings, origin: 100 };
  values.forEach((value, position) => {
    rings.keepDistance(position, value - 100);
    const end = position + 1;
    if (end >= WINDOW && (end - phase) % WINDOW === 0) recordExtremes(kept, end - WINDOW, end);
  });
  const position = values.length - 1;
  const start = position - span;
  const rarity = rarityOf(kept, { value: values[position], position, side, start, windowSize: WINDOW });
  return rarity?.rows ?? null;
}

test('within the context it is exact: rows since a value was as high', () => {
  const values = Array.from({ length: 40 }, (_, i) => (i === 20 ? 9 : 1));
  assert.equal(rarityOfLast([...values, 9], 'highest'), 20);
  assert.equal(rarityOfLast([...values, 8], 'highest'), 20);
  assert.equal(rarityOfLast([...values, 0], 'lowest'), 40);
  assert.equal(rarityOfLast([...values, 1, 1, 1, 1.5], 'highest'), 23);
  assert.equal(rarityOfLast([...values, 2, 1, 2], 'highest'), null, 'a row of the last windows was as high');
});

test('a row that ends a block is not the highest of the block before that one', () => {
  const block = 2 * CONTEXT;
  const values = Array.from({ length: 6 * block - 1 }, (_, i) => (i % 7) - (i < block ? 1 : 0));
  values[5 * block - 30] = 20;
  assert.equal(rarityOfLast([...values, 10], 'highest'), block - 1);
});

test('beyond the context it never claims more than is true, and claims it of every row where no value was as high', () => {
  let beyond = 0;
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 300, maxLength: 900 }),
      fc.integer({ min: 26, max: 31 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 0, max: WINDOW - 1 }),
      (values, last, isHigh, span, phase) => {
        const all = [...values, last].map((value) => (isHigh ? value : -value));
        const rows = rarityOfLast(all, isHigh ? 'highest' : 'lowest', { span, phase });
        const isBeyond = (rows ?? 0) > CONTEXT;
        const before = values.slice(0, values.length - span);
        const reached = before.findLastIndex((value) => (isBeyond ? value > last : value >= last));
        // A first window that is not a whole one is not part of it.
        if (reached < 0 && span === 0) assert.equal(rows, before.length - phase);
        else
          assert.ok((rows ?? 0) <= before.length - Math.max(0, reached), `${rows} rows, of ${before.length - reached}`);
        if (isBeyond) beyond++;
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(beyond > 10, `${beyond} beyond the context`);
});
