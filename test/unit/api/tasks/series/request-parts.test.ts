import assert from 'node:assert/strict';
import test from 'node:test';
import { inParts, requestParts } from '../../../../../src/api/tasks/series/request-parts.ts';
import { fc } from '../../../../fixture/fast-check.ts';

test('parts are all series in their order, and full: no two neighbours would fit into one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40)), fc.integer({ min: 1, max: 60 }), (lengths, valuesMax) => {
      const series = lengths.map((length) => new Float64Array(length));
      const parts = requestParts(series, valuesMax);
      const found = parts.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
      assert.deepEqual(found, [...series.keys()]);
      const valuesOf = ({ start, end }: { readonly start: number; readonly end: number }) =>
        lengths.slice(start, end).reduce((sum, length) => sum + length, 0);
      for (const [i, part] of parts.entries()) {
        assert.ok(part.end - part.start === 1 || valuesOf(part) <= valuesMax);
        if (i > 0) assert.ok(valuesOf(parts[i - 1]) + lengths[part.start] > valuesMax);
      }
    }),
  );
});

const large = Array.from({ length: 5 }, () => new Float64Array(200_000));

test('two parts are in work at a time, and results are in the order of the series', async () => {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const results = inParts(large, async ({ start }) => {
    started.push(start);
    await new Promise<void>((resolve) => ends.push(resolve));
    return [start];
  });
  ends[1]();
  await new Promise(setImmediate);
  assert.deepEqual(started, [0, 1]);
  ends[0]();
  for (let i = 2; i < 5; i++) {
    await new Promise(setImmediate);
    ends[i]();
  }
  assert.deepEqual(await results, [0, 1, 2, 3, 4]);
});

test('a part that fails fails the whole, whichever it is, and no rejection is left over', async () => {
  for (const bad of [0, 1, 4]) {
    const work = async ({ start }: { readonly start: number }) => {
      if (start >= bad) throw new Error(`part ${start}`);
      return [start];
    };
    await assert.rejects(inParts(large, work), new Error(`part ${bad}`));
    await new Promise(setImmediate);
  }
});
