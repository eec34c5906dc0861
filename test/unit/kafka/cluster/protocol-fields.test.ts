import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  array,
  byTopic,
  decodeAnswer,
  encodeRequest,
  type Field,
  FieldReader,
  FieldWriter,
  first,
  i8,
  i16,
  i32,
  i64,
  string,
  struct,
  uuid,
} from '../../../../src/kafka/cluster/protocol-fields.ts';

const ENCODINGS = [true, false];

function throughBytes<T>(field: Field<T>, value: T, isCompact: boolean): T {
  const writer = new FieldWriter(isCompact);
  field.write(writer, value);
  return field.read(new FieldReader(writer.take(), isCompact));
}

test('fields are read as they were written, in both encodings', () => {
  const place = struct({ partition: i32, offset: i64, error: i16, flag: i8, note: string });
  const all = struct({ id: uuid, names: array(string), topics: byTopic(place) });
  const value = {
    id: '00112233445566778899aabbccddeeff',
    names: ['', null, 'ä', ...[126, 127, 128, 249, 20_000].map((length) => 'x'.repeat(length))],
    topics: [
      { topic: 'a', partitions: [{ partition: 7, offset: 2 ** 52, error: -1, flag: -1, note: null }] },
      { topic: 'b', partitions: [] },
    ],
  };
  for (const isCompact of ENCODINGS) assert.deepEqual(throughBytes(all, value, isCompact), value);
});

test('lengths and tagged fields are those of the encoding', () => {
  const request = { names: array(string), flag: i8 };
  const values = { names: ['ab', null], flag: 1 };
  assert.equal(
    encodeRequest({ isCompact: true, request }, values).toString('hex'),
    '00' + '03' + '036162' + '00' + '01' + '00',
  );
  assert.equal(
    encodeRequest({ isCompact: false, request }, values).toString('hex'),
    '00000002' + '00026162' + 'ffff' + '01',
  );
});

test('tagged fields that a newer broker adds are skipped', () => {
  const tags = '01' + '07' + '02' + 'aabb';
  const payload = Buffer.from(`${tags}03${'05'}${tags}${'06'}${tags}09`, 'hex');
  const answer = { numbers: array(struct({ number: i8 })), last: i8 };
  assert.deepEqual(decodeAnswer({ isCompact: true, answer }, payload), {
    numbers: [{ number: 5 }, { number: 6 }],
    last: 9,
  });
});

test('an array that is null has no elements, and so no first one', () => {
  for (const [isCompact, bytes] of [
    [true, '00'],
    [false, 'ffffffff'],
  ] as const) {
    const reader = () => new FieldReader(Buffer.from(bytes, 'hex'), isCompact);
    assert.deepEqual(array(i8).read(reader()), []);
    assert.equal(first({ number: i8 }).read(reader()), null);
  }
});

test('an answer that is cut off is refused', () => {
  const payload = Buffer.from('00' + '05' + '6162', 'hex');
  assert.throws(() => decodeAnswer({ isCompact: true, answer: { name: string } }, payload), RangeError);
});
