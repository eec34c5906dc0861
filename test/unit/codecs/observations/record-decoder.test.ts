import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { WIRE_HEADER_BYTES, wireHeader } from '../../../../src/codecs/formats/wire-header.ts';
import {
  createRecordDecoder,
  SCHEMA_IDLE_MS,
  SCHEMA_UNKNOWN_MS,
  SCHEMAS_MAX,
} from '../../../../src/codecs/observations/record-decoder.ts';
import type { RecordFormat } from '../../../../src/config/config.ts';
import { SchemaTable } from '../../../fixture/schema-registry/schema-table.ts';
import { avroRecord, jsonSchemaRecord, protobufRecord } from '../../../fixture/schema-registry/wire-record.ts';
import { CLOCK_MS, recordMapping } from '../../../fixture/stream/record-mapping.ts';

const SCHEMAS = new URL('../../../../schemas/', import.meta.url);
const AVRO = await readFile(new URL('observation.avsc', SCHEMAS), 'utf8');
const PROTO = await readFile(new URL('observation.proto', SCHEMAS), 'utf8');

const RECORD = { series: 'a', timestamp: CLOCK_MS, value: 0.1 };
const OBSERVATION = { kind: 'observation', series: 'a', group: null, timestampMs: CLOCK_MS, value: 0.1 };

async function decodeWith(format: RecordFormat, value: Buffer, table: SchemaTable) {
  const decoder = createRecordDecoder(recordMapping({ format }), { schemas: table });
  const missing = decoder.missingSchema({ value }, CLOCK_MS);
  if (missing !== null) await decoder.loadSchemas([missing], CLOCK_MS);
  assert.equal(decoder.missingSchema({ value }, CLOCK_MS), null);
  return decoder.decode({ value }, CLOCK_MS);
}

async function refusal(format: RecordFormat, value: Buffer, table: SchemaTable): Promise<string> {
  const decoded = await decodeWith(format, value, table);
  return decoded.kind === 'dead-letter' ? `${decoded.reason}: ${decoded.detail}` : decoded.kind;
}

test('the same observation is read from JSON, JSON Schema, Avro and Protobuf', async () => {
  const table = new SchemaTable();
  const avroId = table.add('AVRO', AVRO);
  const protoId = table.add('PROTOBUF', PROTO);
  const json = Buffer.from(JSON.stringify(RECORD));
  assert.deepEqual(await decodeWith('json', json, table), OBSERVATION);
  assert.deepEqual(
    await decodeWith('json-schema', jsonSchemaRecord(table.add('JSON', '{}'), RECORD), table),
    OBSERVATION,
  );
  assert.deepEqual(await decodeWith('avro', avroRecord(avroId, AVRO, { ...RECORD, group: null }), table), OBSERVATION);
  const proto = protobufRecord(protoId, PROTO, 'tidewatch.Observation', RECORD);
  assert.deepEqual(await decodeWith('protobuf', proto, table), OBSERVATION);
});

test('a decimal of Kafka Connect has the value of its JSON Schema, and is refused where that is not known', async () => {
  const table = new SchemaTable();
  const decimal = { type: 'number', title: 'org.apache.kafka.connect.data.Decimal', 'connect.type': 'bytes' };
  const value = { ...decimal, 'connect.parameters': { scale: '2' } };
  const id = table.add('JSON', JSON.stringify({ type: 'object', properties: { value } }));
  const written = { ...RECORD, value: '1234' };
  const decoded = await decodeWith('json-schema', jsonSchemaRecord(id, written), table);
  assert.deepEqual(decoded, { ...OBSERVATION, value: -26_588.24 });
  assert.match(await refusal('json-schema', jsonSchemaRecord(9, written), table), /^schema-unknown/);
});

test('an absent value is missing in every format, and never zero', async () => {
  const table = new SchemaTable();
  const avroId = table.add('AVRO', AVRO);
  const protoId = table.add('PROTOBUF', PROTO);
  const { value: _, ...absent } = RECORD;
  const records: [RecordFormat, Buffer][] = [
    ['json', Buffer.from(JSON.stringify(absent))],
    ['json-schema', jsonSchemaRecord(table.add('JSON', '{}'), { ...RECORD, value: null })],
    ['avro', avroRecord(avroId, AVRO, { ...absent, value: null, group: null })],
    ['protobuf', protobufRecord(protoId, PROTO, 'tidewatch.Observation', absent)],
  ];
  for (const [format, bytes] of records) assert.match(await refusal(format, bytes, table), /^value-missing/, format);
});

test("Python's Infinity is a value that is not finite, of a series that is named; its NaN is a missing value", async () => {
  const table = new SchemaTable();
  const jsonId = table.add('JSON', '{}');
  const missing = Buffer.from(`{"series": "a", "timestamp": ${CLOCK_MS}, "value": NaN}`);
  assert.deepEqual(await decodeWith('json', missing, table), { kind: 'missing', series: 'a', timestampMs: CLOCK_MS });
  for (const word of ['Infinity', '-Infinity']) {
    const text = `{"series": "a", "timestamp": ${CLOCK_MS}, "value": ${word}}`;
    for (const [format, bytes] of [
      ['json', Buffer.from(text)],
      ['json-schema', Buffer.concat([wireHeader(jsonId), Buffer.from(text)])],
    ] as const) {
      assert.deepEqual(await decodeWith(format, bytes, table), {
        kind: 'dead-letter',
        reason: 'value-not-finite',
        detail: `the value is ${word}: not a finite number`,
        series: 'a',
      });
    }
  }
});

test('NaN in a field that is not read takes nothing from the observation, and in a text it is text', async () => {
  const table = new SchemaTable();
  const decoded = (text: string) => decodeWith('json', Buffer.from(text), table);
  const series = '"say \\"NaN, Infinity\\""';
  assert.deepEqual(await decoded(`{"series":${series},"other":[NaN,-Infinity],"timestamp":${CLOCK_MS},"value":0.1}`), {
    ...OBSERVATION,
    series: 'say "NaN, Infinity"',
  });
  assert.match(
    await refusal('json', Buffer.from(`{"series":NaN,"timestamp":1,"value":1}`), table),
    /^series-unreadable/,
  );
  assert.match(await refusal('json', Buffer.from('{"series":"a","value":NaN'), table), /^record-unreadable/);
});

test('a byte order mark before a record is left out, and UTF-16 is named', async () => {
  const table = new SchemaTable();
  const text = JSON.stringify(RECORD);
  assert.deepEqual(await decodeWith('json', Buffer.from(`\uFEFF${text}`), table), OBSERVATION);
  assert.match(await refusal('json', Buffer.from(`\uFEFF${text}`, 'utf16le'), table), /^record-unreadable: .*UTF-16/);
});

test('a record that is not of its format is unreadable, whatever it is', async () => {
  const table = new SchemaTable();
  const avroId = table.add('AVRO', AVRO);
  const protoId = table.add('PROTOBUF', PROTO);
  const avro = avroRecord(avroId, AVRO, { ...RECORD, group: null });
  const proto = protobufRecord(protoId, PROTO, 'tidewatch.Observation', RECORD);
  const bad: [RecordFormat, Buffer, RegExp][] = [
    ['json', Buffer.from(''), /JSON/],
    ['json', Buffer.from('{"series":"a"'), /JSON/],
    ['json-schema', Buffer.from(JSON.stringify(RECORD)), /no schema id/],
    ['avro', Buffer.from(JSON.stringify(RECORD)), /no schema id/],
    ['avro', avro.subarray(0, 4), /no schema id/],
    ['avro', avro.subarray(0, -1), /not a record of schema 1/],
    ['avro', Buffer.concat([avro, avro]), /not a record of schema 1/],
    ['protobuf', proto.subarray(0, -1), /not a record of schema 2/],
    ['protobuf', proto.subarray(0, WIRE_HEADER_BYTES), /not a record of schema 2/],
    ['protobuf', avro, /schema 1 is of type AVRO, not PROTOBUF/],
  ];
  for (const [format, bytes, why] of bad) {
    const said = await refusal(format, bytes, table);
    assert.match(said, /^record-unreadable: /);
    assert.match(said, why);
  }
});

test('an id beyond ASCII is read; one of invalid UTF-8 is refused in every format', async () => {
  const series = 'Zürich/\u{1f30a}';
  const decoded = await decodeWith('json', Buffer.from(JSON.stringify({ ...RECORD, series })), new SchemaTable());
  assert.equal(decoded.series, series);

  const table = new SchemaTable();
  const avroId = table.add('AVRO', AVRO);
  const protoId = table.add('PROTOBUF', PROTO);
  const marked = { ...RECORD, series: 'MARK' };
  const records: [RecordFormat, Buffer][] = [
    ['json', Buffer.from(JSON.stringify(marked))],
    ['avro', avroRecord(avroId, AVRO, { ...marked, group: null })],
    ['protobuf', protobufRecord(protoId, PROTO, 'tidewatch.Observation', marked)],
  ];
  for (const [format, bytes] of records) {
    bytes[bytes.indexOf('MARK')] = 0xff;
    assert.match(await refusal(format, bytes, table), /^series-unreadable: .* is not valid Unicode/, format);
  }
});

test('a schema is fetched once, and an unknown one is asked for again after a while', async () => {
  const table = new SchemaTable();
  const decoder = createRecordDecoder(recordMapping({ format: 'avro' }), { schemas: table });
  const record = { value: avroRecord(1, AVRO, { ...RECORD, group: null }) };
  assert.throws(() => decoder.decode(record, CLOCK_MS), { code: 'schema-not-loaded' });
  await decoder.loadSchemas([1, 1], CLOCK_MS);
  const refused = decoder.decode(record, CLOCK_MS);
  assert.equal(refused.kind === 'dead-letter' && refused.reason, 'schema-unknown');

  table.add('AVRO', AVRO);
  assert.equal(decoder.missingSchema(record, CLOCK_MS + SCHEMA_UNKNOWN_MS - 1), null);
  const laterMs = CLOCK_MS + SCHEMA_UNKNOWN_MS;
  assert.equal(decoder.missingSchema(record, laterMs), 1);
  await decoder.loadSchemas([1], laterMs);
  assert.equal(decoder.decode(record, laterMs).kind, 'observation');
  await decoder.loadSchemas([1], laterMs);
  assert.deepEqual(table.fetched, [1, 1]);
});

test('beyond the cache limit only schemas that no recent record named are removed', async () => {
  const table = new SchemaTable();
  for (let id = 1; id <= SCHEMAS_MAX + 1; id++) table.add('AVRO', '"long"');
  const decoder = createRecordDecoder(recordMapping({ format: 'avro' }), { schemas: table });
  const missing = (id: number, nowMs: number) => decoder.missingSchema({ value: avroRecord(id, '"long"', 1) }, nowMs);
  await decoder.loadSchemas(
    table.schemas.map((_, index) => index + 1),
    CLOCK_MS,
  );
  assert.equal(missing(1, CLOCK_MS), null);

  const laterMs = CLOCK_MS + SCHEMA_IDLE_MS + 1;
  assert.equal(missing(1, laterMs), null);
  await decoder.loadSchemas([], laterMs);
  assert.equal(missing(1, laterMs), null);
  assert.equal(missing(2, laterMs), 2);
  assert.equal(missing(3, laterMs), null);
});

test('a record can be decoded although the refusal of its schema has expired since', async () => {
  const decoder = createRecordDecoder(recordMapping({ format: 'avro' }), { schemas: new SchemaTable() });
  await decoder.loadSchemas([7], CLOCK_MS);
  const decoded = decoder.decode({ value: avroRecord(7, '"long"', 1) }, CLOCK_MS + SCHEMA_UNKNOWN_MS);
  assert.equal(decoded.kind === 'dead-letter' && decoded.reason, 'schema-unknown');
});

test('an unusable schema refuses its own records only', async () => {
  const table = new SchemaTable();
  const id = table.add('AVRO', '{"type":"record","name":"A","fields":[{"name":"b","type":"B"}]}');
  assert.match(await refusal('avro', avroRecord(id, '"long"', 1), table), /record-unreadable: schema 1 cannot be used/);
});

test('formats with schemas are refused without a registry', () => {
  for (const format of ['avro', 'protobuf'] as const) {
    assert.throws(() => createRecordDecoder(recordMapping({ format })), TypeError);
  }
});
