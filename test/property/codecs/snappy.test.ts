import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSnappy, inflateSnappy } from '../../../src/kafka/batch/snappy.ts';
import { fc } from '../../fixture/fast-check.ts';

/** Pieces that come again, near and far. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 80 }), fc.integer({ min: 1, max: 40 })), { maxLength: 60 })
  .map((pieces) => Buffer.concat(pieces.flatMap(([piece, times]) => Array.from({ length: times }, () => piece))));

test('whatever is compressed with Snappy inflates to itself', () => {
  fc.assert(
    fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 400 }).map(Buffer.from)), (bytes) => {
      assert.deepEqual(inflateSnappy(deflateSnappy(bytes), bytes.length), bytes);
    }),
  );
});

test('what came within 64 KiB is copied, what came before is not looked for', () => {
  const words = Buffer.from('tidewatch_lower{instance="a"}'.repeat(10_000));
  assert.ok(deflateSnappy(words).length < words.length / 15);
  const word = words.subarray(0, 29);
  const far = Buffer.concat([word, Buffer.alloc(70_000, 1), word]);
  assert.deepEqual(inflateSnappy(deflateSnappy(far), far.length), far);
});
