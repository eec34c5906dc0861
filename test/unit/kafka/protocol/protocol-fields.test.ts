import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  array,
  byTopic,
  bytes,
  decodeAnswer,
  type Encoding,
  encodeRequest,
  type Field,
  FieldReader,
  FieldWriter,
  first,
  i8,
  i16,
  i32,
  i64,
  since,
  string,
  struct,
  tagged,
  uuid,
} from '../../../../src/kafka/protocol/protocol-fields.ts';

const COMPACT = { version: 1, isCompact: true };
const PLAIN = { version: 0, isCompact: false };

function throughBytes<T>(field: Field<T>, value: T, encoding: Encoding): T {
  const writer = new FieldWriter(encoding);
  field.write(writer, value);
  return field.read(new FieldReader(writer.concat(), encoding));
}

function bodyOf<T>(encoding: Encoding, fields: Parameters<typeof encodeRequest<T>>[1], values: NoInfer<T>): string {
  const { whole, at } = encodeRequest(encoding, fields, values);
  return whole.toString('hex', at);
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
  for (const encoding of [COMPACT, PLAIN]) assert.deepEqual(throughBytes(all, value, encoding), value);
});

test('lengths and tagged fields are those of the encoding', () => {
  const request = { names: array(string), flag: i8 };
  const values = { names: ['ab', null], flag: 1 };
  assert.equal(bodyOf(COMPACT, request, values), '00' + '03' + '036162' + '00' + '01' + '00');
  assert.equal(bodyOf(PLAIN, request, values), '00000002' + '00026162' + 'ffff' + '01');
});

test('large views of a request are parts of their own, and none of its bytes is missing', () => {
  const fields = { first: i8, views: array(bytes), last: i8 };
  const large = Buffer.alloc(100_000, 'x');
  for (const views of [
    [],
    [Buffer.from('small')],
    [large],
    [large, large],
    [Buffer.from('small'), large, Buffer.from('end')],
  ]) {
    const { whole, at, rest = [] } = encodeRequest(COMPACT, fields, { first: 1, views, last: 3 });
    const writer = new FieldWriter(COMPACT);
    writer.tags();
    for (const [field, value] of [
      [i8, 1],
      [array(bytes), views],
      [i8, 3],
    ] as const)
      (field as Field<unknown>).write(writer, value);
    writer.tags();
    assert.deepEqual(Buffer.concat([whole.subarray(at), ...rest]), writer.concat());
    assert.equal(rest.filter((part) => part === large).length, views.filter((view) => view === large).length);
  }
});

test('a field of later versions is left out of earlier ones', () => {
  const fields = { first: i8, added: since(2, i8, -1), last: i8 };
  const written = (version: number) => bodyOf({ version, isCompact: false }, fields, { first: 1, added: 2, last: 3 });
  assert.deepEqual([written(1), written(2), written(3)], ['0103', '010203', '010203']);
  const read = (version: number, bytes: string) =>
    decodeAnswer({ version, isCompact: false }, fields, Buffer.from(bytes, 'hex'));
  assert.deepEqual(read(1, '0103'), { first: 1, added: -1, last: 3 });
  assert.deepEqual(read(2, '010203'), { first: 1, added: 2, last: 3 });
});

test('a tagged field is found among others, wherever it is, or is absent', () => {
  const answer = { first: i8, names: tagged(2, array(string), ['absent']) };
  const read = (tags: string) => decodeAnswer(COMPACT, answer, Buffer.from(`00${'07'}${tags}`, 'hex')).names;
  const [before, names, after] = ['01' + '02' + 'aabb', '02' + '04' + '02' + '0361' + '62', '05' + '01' + 'cc'];
  assert.deepEqual(read('00'), ['absent']);
  assert.deepEqual(read(`01${names}`), ['ab']);
  assert.deepEqual(read(`03${before}${names}${after}`), ['ab']);
  assert.deepEqual(read(`02${before}${after}`), ['absent']);
});

test('tagged fields that a newer broker adds are skipped', () => {
  const tags = '01' + '07' + '02' + 'aabb';
  const payload = Buffer.from(`${tags}03${'05'}${tags}${'06'}${tags}09`, 'hex');
  const answer = { numbers: array(struct({ number: i8 })), last: i8 };
  assert.deepEqual(decodeAnswer(COMPACT, answer, payload), {
    numbers: [{ number: 5 }, { number: 6 }],
    last: 9,
  });
});

test('an array that is null has no elements, and so no first one', () => {
  for (const [encoding, bytes] of [
    [COMPACT, '00'],
    [PLAIN, 'ffffffff'],
  ] as const) {
    const reader = () => new FieldReader(Buffer.from(bytes, 'hex'), encoding);
    assert.deepEqual(array(i8).read(reader()), []);
    assert.equal(first({ number: i8 }).read(reader()), null);
  }
});

test('an answer that is cut off is refused', () => {
  const payload = Buffer.from('00' + '05' + '6162', 'hex');
  assert.throws(() => decodeAnswer(COMPACT, { name: string }, payload), RangeError);
});
