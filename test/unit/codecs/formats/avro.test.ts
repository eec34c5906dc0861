import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileAvro, compileAvroWriter } from '../../../../src/codecs/formats/avro.ts';
import { wireHeader } from '../../../../src/codecs/formats/wire-header.ts';
import { avroRecord, bodyReader } from '../../../fixture/schema-registry/wire-record.ts';

const read = (text: string, references: { name: string; text: string }[] = []) =>
  bodyReader(compileAvro({ type: 'AVRO', text, references }));

const VARIABLE_FIELDS = [
  { name: 'scale', type: 'int' },
  { name: 'value', type: 'bytes' },
];

/** A long of ten bytes at most, as the wire has it. */
function long(value: bigint): Buffer {
  const bytes = [];
  let zigzag = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; zigzag > 0x7fn; zigzag >>= 7n) bytes.push(Number(zigzag & 0x7fn) | 0x80);
  bytes.push(Number(zigzag));
  return Buffer.concat([wireHeader(1), Buffer.from(bytes)]);
}

test('longs are numbers where numbers are exact, and bigints beyond', () => {
  const readLong = read('"long"');
  const safe = BigInt(Number.MAX_SAFE_INTEGER);
  for (const value of [0n, -1n, safe, -safe]) assert.equal(readLong(long(value)), Number(value));
  for (const value of [safe + 1n, -safe - 1n, 2n ** 63n - 1n, -(2n ** 63n)]) assert.equal(readLong(long(value)), value);
});

test('decimals are read as the nearest number', () => {
  const schema = '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}';
  const decimal = (...bytes: number[]) => read(schema)(avroRecord(1, '"bytes"', Buffer.from(bytes)));
  assert.equal(decimal(0x30, 0x39), 123.45);
  assert.equal(decimal(0xff), -0.01);
  assert.equal(decimal(), 0);
});

test('integers of decimals keep the digits of 64 bits, and a decimal of any scale is a number', () => {
  const whole = '{"type":"bytes","logicalType":"decimal","precision":20,"scale":0}';
  const unscaled = Buffer.from('1000000000000064', 'hex');
  assert.equal(read(whole)(avroRecord(1, '"bytes"', unscaled)), 2n ** 60n + 100n);
  const variable = (name: string) => {
    const type = { type: 'record', name, namespace: 'io.debezium.data', fields: VARIABLE_FIELDS };
    const text = JSON.stringify({
      type: 'record',
      name: 'shop.Value',
      fields: [{ name: 'price', type: ['null', type] }],
    });
    const price = { scale: 4, value: Buffer.from([0x30, 0x39]) };
    return (read(text)(avroRecord(1, text, { price })) as { readonly price: unknown }).price;
  };
  assert.equal(variable('VariableScaleDecimal'), 1.2345);
  assert.equal((variable('Other') as { readonly scale: number }).scale, 4);
});

test('unions are unwrapped, also where the branches have the same JavaScript type', () => {
  const schema = '["null","int","long","double","string"]';
  const bytes = Buffer.from([0x06, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  assert.equal(read(schema)(Buffer.concat([wireHeader(1), bytes])), 1);
});

test('a schema may refer to others', () => {
  const host = '{"type":"record","name":"shared.Host","fields":[{"name":"id","type":"string"}]}';
  const schema = '{"type":"record","name":"A","fields":[{"name":"host","type":"shared.Host"}]}';
  const inlined = schema.replace('"shared.Host"', host);
  const bytes = avroRecord(1, inlined, { host: { id: 'h' } });
  const record = read(schema, [{ name: 'shared.Host', text: host }])(bytes);
  assert.equal(JSON.stringify(record), '{"host":{"id":"h"}}');
});

test('a block that counts more items than it has bytes is refused before anything is allocated for it', () => {
  const count = long(2n ** 40n);
  assert.throws(() => read('{"type":"array","items":"double"}')(count), /counts more items/);
  assert.throws(() => read('{"type":"map","values":"double"}')(count), /counts more items/);
});

test('an array of items that take no bytes is refused: a short record could count billions of them', () => {
  const bytes = Buffer.concat([wireHeader(1), Buffer.from([2, 0])]);
  assert.throws(() => read('{"type":"array","items":"null"}')(bytes), /take no bytes/);
});

test('arrays and maps are read, in one block or several', () => {
  const array = '{"type":"array","items":"int"}';
  assert.deepEqual(read(array)(avroRecord(1, array, [1, 2, 3])), [1, 2, 3]);
  const blocks = Buffer.concat([wireHeader(1), Buffer.from([2, 2, 3, 4, 4, 6, 0])]);
  assert.deepEqual(read(array)(blocks), [1, 2, 3]);
  const map = '{"type":"map","values":"string"}';
  assert.deepEqual({ ...(read(map)(avroRecord(1, map, { a: 'b' })) as object) }, { a: 'b' });
});

test('a record larger than the buffer of the writer is written whole', () => {
  const write = compileAvroWriter('"string"', wireHeader(7));
  const long = 'x'.repeat(100_000);
  const [first, second, third] = [write('a'), write(long), write('b')];
  assert.equal(read('"string"')(second), long);
  assert.equal(read('"string"')(first), 'a');
  assert.equal(read('"string"')(third), 'b');
  assert.equal(second.readUInt32BE(1), 7);
});

test('names that the library refuses are data: of types, fields and symbols, also in types that contain themselves', () => {
  const text = JSON.stringify({
    type: 'record',
    name: 'shop-eu.Node-1',
    fields: [
      { name: 'unit-price', type: 'double' },
      { name: 'constructor', type: { type: 'enum', name: '1st', symbols: ['a-b', '2'] } },
      { name: '__proto__', type: ['null', 'Node-1'], default: null },
    ],
  });
  const price = Buffer.alloc(8);
  price.writeDoubleLE(1.5);
  const inner = Buffer.concat([price, Buffer.from([2, 0])]);
  const bytes = Buffer.concat([wireHeader(1), price, Buffer.from([0, 2]), inner]);
  const read_ = read(text)(bytes) as Record<string, unknown>;
  assert.deepEqual(Object.entries(read_).slice(0, 2), [
    ['unit-price', 1.5],
    ['constructor', 'a-b'],
  ]);
  assert.deepEqual(Object.entries(Object.getOwnPropertyDescriptor(read_, '__proto__')?.value), [
    ['unit-price', 1.5],
    ['constructor', '2'],
    ['__proto__', null],
  ]);
});

test('a decimal of a scale that no decimal has is the bytes that it is made of', () => {
  for (const scale of [-1, 0.5, 'x']) {
    const schema = JSON.stringify({ type: 'bytes', logicalType: 'decimal', precision: 4, scale });
    assert.ok(Buffer.isBuffer(read(schema)(avroRecord(1, '"bytes"', Buffer.from([1])))));
  }
});
