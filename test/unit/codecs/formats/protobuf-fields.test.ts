/** Messages of kinds.proto, as Confluent's serializer for Python wrote and registered them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { compileProtobuf } from '../../../../src/codecs/formats/protobuf.ts';
import { compileMapping } from '../../../../src/codecs/observations/mapping.ts';
import { compileValues } from '../../../../src/codecs/observations/values-mapping.ts';
import type { RecordMapping } from '../../../../src/config/config.ts';
import { bodyReader } from '../../../fixture/schema-registry/wire-record.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const recorded = JSON.parse(
  await readFile(new URL('../../../fixture/schema-registry/confluent-records.json', import.meta.url), 'utf8'),
);

function recordOf(wanted: string): unknown {
  const found = recorded.records.find(({ name }: { name: string }) => name === `protobuf-${wanted}-prefix`);
  return bodyReader(compileProtobuf(recorded.schemas[found.schema]))(Buffer.from(found.value, 'base64'));
}

const record = recordOf('kinds');

const AT_MS = 1_767_225_600_250;
const mapping = (changes: Partial<RecordMapping>) =>
  recordMapping({ format: 'protobuf', series: ['state'], time: 'at', timeUnit: 'iso', ...changes });

function read(changes: Partial<RecordMapping>): readonly [series: string, value: number, timestampMs: number] | string {
  const decoded = compileMapping(mapping(changes))(record, CLOCK_MS);
  return decoded.kind === 'observation'
    ? [decoded.series, decoded.value, decoded.timestampMs]
    : JSON.stringify(decoded);
}

test('an enum is its name in ids and labels, and its number as a value', () => {
  assert.deepEqual(read({ value: 'state' }), ['FAILED', 2, AT_MS]);
  assert.deepEqual(read({ series: ['past[0]', 'past[1]'], value: 'past[0]' }), ['RUNNING/UNKNOWN', 1, AT_MS]);
  // One that the schema does not name.
  assert.deepEqual(read({ series: ['past[2]'], value: 'past[2]' }), ['9', 9, AT_MS]);
  const labels = read({ labels: 'states', value: 'celsius' });
  assert.match(String(labels), /value-missing.*FAILED\{a=\\"RUNNING\\",b=\\"UNKNOWN\\"\}/);
});

test('keys of 64 bits of a map are numbers', () => {
  const [series] = read({ labels: 'by_id', value: 'state' });
  assert.equal(series, 'FAILED{-3="y",1099511627776="x"}');
  assert.deepEqual(read({ value: 'by_hash["18446744073709551615"]' }), ['FAILED', 2.5, AT_MS]);
});

test('types that every registry knows need no reference, and those of other files are passed over', () => {
  assert.deepEqual(read({ value: 'price' }), ['FAILED', -12.5, AT_MS]);
  assert.deepEqual(read({ value: 'price', time: 'day' }), ['FAILED', -12.5, AT_MS - 250]);
  assert.match(String(read({ value: 'place.latitude' })), /value-missing/);
  assert.match(String(read({ value: 'price', timeUnit: 'ms' })), /it would make sense in iso/);
});

test('a oneof has the field that is set alone', () => {
  assert.deepEqual(read({ value: 'count' }), ['FAILED', -(2 ** 53), AT_MS]);
  assert.match(String(read({ value: 'celsius' })), /value-missing/);
});

test('a message of values has also those that it leaves out because they are zero', () => {
  const all = compileValues(mapping({ values: ['load'] }), {})(record, CLOCK_MS);
  const actual = all.map((each) => each.kind === 'observation' && [each.series, each.value]);
  assert.deepEqual(actual, [
    ['FAILED/cpu', 0.5],
    ['FAILED/disk', 0],
    ['FAILED/jobs', 0],
  ]);
});

test('a descriptor of proto2 has its groups, and one of an edition the features of its file', () => {
  for (const name of ['legacy', 'edition']) {
    const decoded = compileMapping(recordMapping({ format: 'protobuf', time: 'reading.at' }))(recordOf(name), CLOCK_MS);
    const expected = { kind: 'observation', series: 'kiln-1', group: null, timestampMs: AT_MS - 250, value: 0 };
    assert.deepEqual(decoded, expected, name);
  }
  const legacy = recordMapping({ format: 'protobuf', series: ['kind'], time: 'reading.at' });
  assert.equal(compileMapping(legacy)(recordOf('legacy'), CLOCK_MS).series, 'GAUGE', 'the first name of a number');
});

test('a type that no imported file defines is an invalid schema all the same', () => {
  const text = 'syntax = "proto3"; import "google/type/money.proto"; message A { Missing b = 1; }';
  assert.throws(() => compileProtobuf({ type: 'PROTOBUF', text, references: [] }), /Missing/);
});
