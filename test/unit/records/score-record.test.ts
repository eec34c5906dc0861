import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputAt, offsetElsewhere } from '../../../src/records/score-record.ts';
import { fc } from '../../fixture/fast-check.ts';

const PLACE = { topic: 'observations', partition: 3 };
const offsets = fc.integer({ min: 0, max: 2 ** 38 });

test('an offset of another partition keeps its place, below every offset of its own, in order', () => {
  fc.assert(
    fc.property(fc.nat(16_383), offsets, offsets, (partition, a, b) => {
      const [one, other] = [offsetElsewhere(partition, a), offsetElsewhere(partition, b)];
      assert.deepEqual(inputAt(PLACE, one), { topic: 'observations', partition, offset: a });
      assert.ok(one < -1);
      assert.equal(Math.sign(one - other), Math.sign(a - b));
      // What moves again says where it was first.
      assert.equal(offsetElsewhere(9, one), one);
    }),
  );
});

test('an offset of its own partition is what it is, and so is that of no record', () => {
  for (const offset of [-1, 0, 7]) assert.deepEqual(inputAt(PLACE, offset), { ...PLACE, offset });
  assert.equal(offsetElsewhere(2, -1), -1);
});
