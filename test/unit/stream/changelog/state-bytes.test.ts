import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StateReader, StateWriter } from '../../../../src/stream/changelog/state-bytes.ts';

function written(numbers: readonly number[]): Buffer {
  const writer = new StateWriter();
  for (const number of numbers) writer.number(number);
  return writer.take();
}

test('every number is read as it was written, to the last bit', () => {
  const edges = [0, -0, 247, 248, 65_535, 65_536, 2 ** 32, 2 ** 48 - 1, 2 ** 48, -1, 0.5, 0.1];
  const number = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(...edges, Number.NaN, -Infinity, Infinity));
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const reader = new StateReader(written(numbers));
      for (const expected of numbers) assert.ok(Object.is(reader.number(), expected), `${expected}`);
      assert.ok(reader.done);
    }),
  );
});

test('small counts take one byte, offsets and times at most seven, and no number more than nine', () => {
  const sizes = [0, 247, 1_000, 70_000, 1_735_689_600_000, 0.5, 0.1].map((number) => written([number]).length);
  assert.deepEqual(sizes, [1, 1, 3, 5, 7, 5, 9]);
});

test('numbers of earlier formats were doubles', () => {
  const writer = new StateWriter();
  writer.f64(3);
  assert.equal(new StateReader(writer.take(), 0, 3).number(), 3);
});
