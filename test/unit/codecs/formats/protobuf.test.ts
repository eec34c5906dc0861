import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileProtobuf } from '../../../../src/codecs/formats/protobuf.ts';
import { compileMapping } from '../../../../src/codecs/observations/mapping.ts';
import { bodyReader, protobufRecord } from '../../../fixture/schema-registry/wire-record.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const SCHEMA = `
  syntax = "proto3";
  package acme;
  message Other { string name = 1; }
  message Metrics {
    message Point { string metric_name = 1; uint64 at = 2; double value = 3; optional float maybe = 4; }
    repeated Point points = 1;
  }`;

const read = (text: string, references: { name: string; text: string }[] = []) =>
  bodyReader(compileProtobuf({ type: 'PROTOBUF', text, references }));

test('the record names its message by the indexes of nested types', () => {
  const point = { metric_name: 'cpu', value: 2 };
  const nested = protobufRecord(1, SCHEMA, 'acme.Metrics.Point', point, [2, 1, 0]);
  assert.equal((read(SCHEMA)(nested) as typeof point).metric_name, 'cpu');
  const second = protobufRecord(1, SCHEMA, 'acme.Metrics', { points: [point] }, [1, 1]);
  assert.equal((read(SCHEMA)(second) as { points: (typeof point)[] }).points[0].value, 2);
  const first = protobufRecord(1, SCHEMA, 'acme.Other', { name: 'n' });
  assert.equal((read(SCHEMA)(first) as { name: string }).name, 'n');
});

test('indexes that the schema does not have are refused', () => {
  for (const indexes of [[1, 2], [1, 31], [2, 1, 1], [3, 1, 0, 0], [40]]) {
    assert.throws(() => read(SCHEMA)(protobufRecord(1, SCHEMA, 'acme.Other', {}, indexes)), /message index|no message/);
  }
});

test('64-bit times are read by the mapping, as is a value left out because it is zero', () => {
  const mapping = compileMapping(
    recordMapping({
      series: ['points[0].metric_name'],
      time: 'points[0].at',
      timeUnit: 'ns',
      value: 'points[0].value',
    }),
  );
  const point = { metric_name: 'cpu', at: String(BigInt(CLOCK_MS) * 1_000_000n), value: 0 };
  const record = read(SCHEMA)(protobufRecord(1, SCHEMA, 'acme.Metrics', { points: [point] }, [1, 1]));
  const decoded = mapping(record, CLOCK_MS);
  assert.deepEqual(decoded, { kind: 'observation', series: 'cpu', group: null, timestampMs: CLOCK_MS, value: 0 });
});

test('an optional field left out is absent, whatever its type', () => {
  const record = read(SCHEMA)(protobufRecord(1, SCHEMA, 'acme.Metrics.Point', {}, [2, 1, 0])) as Record<
    string,
    unknown
  >;
  assert.equal(record.maybe, null);
  assert.equal(record.value, 0);
});

test('a schema may import others and the well-known types', () => {
  const host = 'syntax = "proto3"; package acme; message Host { string id = 1; }';
  const schema = `syntax = "proto3"; package acme;
    import "host.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
    message Observation { Host host = 1; google.protobuf.Timestamp at = 2; google.protobuf.DoubleValue value = 3; }`;
  const whole = `syntax = "proto3"; package acme;
    message Observation { Host host = 1; T at = 2; D value = 3; }
    message Host { string id = 1; } message T { int64 seconds = 1; } message D { double value = 1; }`;
  const written = { host: { id: 'h' }, at: { seconds: 1_777_636_800 }, value: { value: 1.5 } };
  const bytes = protobufRecord(1, whole, 'acme.Observation', written);
  const mapping = recordMapping({ series: ['host.id'], time: 'at.seconds', timeUnit: 's', value: 'value.value' });
  const record = read(schema, [{ name: 'host.proto', text: host }])(bytes);
  assert.equal(compileMapping(mapping)(record, CLOCK_MS).kind, 'observation');
});

test('an invalid schema is refused', () => {
  assert.throws(() => read('message {'));
  assert.throws(() => read('syntax = "proto3"; message A { Missing b = 1; }'));
});

test('options of any form are passed over, also those that a referenced file defines', () => {
  const references = [
    {
      name: 'rules.proto',
      text: `syntax = "proto2"; package rules; import "google/protobuf/descriptor.proto";
        message Rule { optional int32 least = 1; }
        extend google.protobuf.FieldOptions { optional Rule rule = 50001; }
        extend google.protobuf.MessageOptions { optional Rule whole = 50001; }`,
    },
  ];
  // The parameters are written as the registry returns those of Kafka Connect's decimals.
  const text = `syntax = "proto3"; // = { no value
    import "confluent/meta.proto"; import "rules.proto";
    option (confluent.file_meta) = { doc: "}", tags: ["a"] };
    message Row { option (rules.whole) = { least: 1 };
      string series = 1 [(confluent.field_meta) = {
        params: [ { value: "10", key: "precision" }, { value: '{', key: "scale" } ]
      }, deprecated = true];
      enum Kind { NONE = 0 [(confluent.field_meta) = { params: [ { } ] }]; GAUGE = 1; }
      oneof reading { double value = 2 [(rules.rule) = { least: 2 }]; }
      Kind kind = 3; google.protobuf.FieldOptions options = 4; google.protobuf.FileDescriptorProto file = 5; }`;
  const plain = 'syntax = "proto3"; message Row { string series = 1; double value = 2; int32 kind = 3; }';
  const row = read(text, references)(protobufRecord(1, plain, 'Row', { series: 's', value: 2, kind: 1 }));
  assert.deepEqual({ ...(row as object) }, { series: 's', value: 2, kind: (row as { kind: object }).kind });
  const edition = 'edition = "2023"; option features = { field_presence: IMPLICIT }; message Row { double value = 1; }';
  assert.equal((read(edition)(protobufRecord(1, plain, 'Row', {})) as { value: unknown }).value, 0);
});
