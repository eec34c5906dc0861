import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CompactReader,
  compactString,
  NO_TAGS,
} from '../../../../../../src/stream/log/kafka/cluster/compact-encoding.ts';

test('texts of every length are read as they were written', () => {
  for (const length of [0, 1, 126, 127, 128, 249, 10_000]) {
    const text = 'x'.repeat(length);
    assert.equal(new CompactReader(Buffer.concat([NO_TAGS, compactString(text)])).text(), text);
  }
});

test('tagged fields that a newer broker adds are skipped', () => {
  const tag = Buffer.from([1, 7, 2, 0xaa, 0xbb]);
  const array = Buffer.concat([Buffer.from([3, 5]), tag, Buffer.from([6]), tag]);
  const reader = new CompactReader(Buffer.concat([tag, array, Buffer.from([9])]));
  assert.deepEqual(
    reader.array(() => reader.i8()),
    [5, 6],
  );
  assert.equal(reader.i8(), 9);
});

test('an array that is null has no elements', () => {
  const reader = new CompactReader(Buffer.concat([NO_TAGS, Buffer.from([0])]));
  assert.deepEqual(
    reader.array(() => 1),
    [],
  );
});
