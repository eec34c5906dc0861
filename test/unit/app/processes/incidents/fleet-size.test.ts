import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countNew } from '../../../../../src/app/processes/incidents/fleet-size.ts';
import { fc } from '../../../../fixture/fast-check.ts';

test('new offsets are counted to a sixteenth, wherever they begin, in logs of more than 2^31 records, too', async () => {
  const offsets = fc.tuple(fc.nat(2 ** 40), fc.integer({ min: 2_000, max: 2 ** 33 }), fc.double({ noNaN: true }));
  await fc.assert(
    fc.asyncProperty(offsets, async ([start, length, at]) => {
      const [last, begin] = [start + length, start + Math.floor(length * (Math.abs(at) % 1))];
      const first = last - 999;
      const read: number[] = [];
      const counted = await countNew({ start, first, last }, async (offset) => {
        read.push(offset);
        return offset >= begin;
      });
      assert.ok(read.every((offset) => offset >= start && offset <= first) && read.length < 100);
      const expected = last - Math.min(begin, first) + 1;
      assert.ok(Math.abs(counted - expected) <= expected / 16 + 1, `${counted} instead of ${expected}`);
    }),
  );
});
