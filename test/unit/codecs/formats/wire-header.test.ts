import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { compileAvro } from '../../../../src/codecs/formats/avro.ts';
import { compileProtobuf } from '../../../../src/codecs/formats/protobuf.ts';
import type { FetchedSchema } from '../../../../src/codecs/formats/schema-source.ts';
import { readFrame } from '../../../../src/codecs/formats/wire-header.ts';
import { createRecordDecoder } from '../../../../src/codecs/observations/record-decoder.ts';
import type { RecordFormat, RecordMapping } from '../../../../src/config/config.ts';
import type { RecordHeaders } from '../../../../src/kafka/batch/records.ts';
import { SchemaTable } from '../../../fixture/schema-registry/schema-table.ts';
import { recordMapping } from '../../../fixture/stream/record-mapping.ts';

const fixture = async (name: string) =>
  JSON.parse(await readFile(new URL(`../../../fixture/schema-registry/${name}.json`, import.meta.url), 'utf8'));

/** What Python's serializers wrote and registered: confluent_records.py. */
const recorded: {
  readonly schemas: readonly FetchedSchema[];
  readonly captured: { readonly schema: string; readonly body: string };
  readonly records: readonly {
    readonly name: string;
    readonly value: string;
    readonly headers: readonly (readonly [string, string])[];
    readonly id: number;
    readonly guid: string;
    readonly schema: number;
  }[];
} = await fixture('confluent-records');

const AT_MS = 1_767_225_600_000;

/** The record of this name, its schema, and a registry that has the schema by id and GUID. */
function find(wanted: string) {
  const { schema, ...found } = recorded.records.find(({ name }) => name === wanted)!;
  const headers: RecordHeaders = found.headers.map(([name, bytes]) => [name, Buffer.from(bytes, 'base64')]);
  const table = new SchemaTable();
  table.guids.set(found.guid, recorded.schemas[schema]);
  table.schemas[found.id - 1] = recorded.schemas[schema];
  return { value: Buffer.from(found.value, 'base64'), headers, schema: recorded.schemas[schema], table };
}

async function decode(wanted: string, format: RecordFormat, fields: Partial<RecordMapping> = {}) {
  const { table, schema: _, ...record } = find(wanted);
  return decodeBy(table, record, format, fields);
}

async function decodeBy(
  table: SchemaTable,
  record: { readonly value: Buffer; readonly headers: RecordHeaders },
  format: RecordFormat,
  fields: Partial<RecordMapping> = {},
) {
  const decoder = createRecordDecoder(recordMapping({ format, ...fields }), { schemas: table });
  const missing = decoder.missingSchema(record, AT_MS);
  if (missing !== null) await decoder.loadSchemas([missing], AT_MS);
  return decoder.decode(record, AT_MS);
}

const observed = (timestampMs: number) =>
  ({ kind: 'observation', series: 'kiln-1', group: null, timestampMs, value: 12.5 }) as const;

test('the schema is read from the bytes before the value, and from the header of the record', async () => {
  const nested = { series: ['sensor'], time: 'at', value: 'value' };
  const listed = { series: ['points[0].sensor'], time: 'points[0].at', value: 'points[0].value' };
  for (const framing of ['prefix', 'header']) {
    assert.deepEqual(await decode(`avro-${framing}`, 'avro'), observed(AT_MS));
    assert.deepEqual(await decode(`json-schema-${framing}`, 'json-schema'), observed(AT_MS));
    for (const name of ['protobuf-nested', 'protobuf-known']) {
      assert.deepEqual(await decode(`${name}-${framing}`, 'protobuf', nested), observed(AT_MS + 250), name);
    }
    assert.deepEqual(await decode(`protobuf-${framing}`, 'protobuf', listed), observed(AT_MS + 250));
    const first = find(`protobuf-first-${framing}`);
    const frame = readFrame(first.value, first.headers);
    assert.ok(typeof frame !== 'string');
    assert.deepEqual({ ...(compileProtobuf(first.schema)(frame.body) as object) }, { text: 'x' });
  }
});

test('the time of a Timestamp is exact in every unit', async () => {
  for (const timeUnit of ['s', 'ms', 'us', 'ns', 'iso'] as const) {
    const fields = { series: ['sensor'], time: 'at', timeUnit, value: 'value' };
    assert.deepEqual(await decode('protobuf-nested-prefix', 'protobuf', fields), observed(AT_MS + 250));
  }
});

test('well-known types and maps of a descriptor are read as what they represent', async () => {
  const fields = { series: ['sensor'], time: 'at' };
  for (const [value, expected] of [
    ['value', 12.5],
    ['value.value', 12.5],
    ['plain', 2.5],
    ['took', 3.5],
    ['total', 2 ** 53],
    ['labels.fields.line', 4],
    ['counts[1]', 8],
  ] as const) {
    const decoded = await decode('protobuf-known-prefix', 'protobuf', { ...fields, value });
    // 2^53 + 1: the digit that a number leaves out is kept for counters.
    const extras = value === 'total' ? { extras: { low: 1 } } : {};
    assert.deepEqual(decoded, { ...observed(AT_MS + 250), value: expected, ...extras }, value);
  }
  for (const [labels, series] of [
    ['tags', 'kiln-1{zone="b"}'],
    ['labels', 'kiln-1{line="4",live="true",site="north"}'],
  ] as const) {
    const decoded = await decode('protobuf-nested-prefix', 'protobuf', { ...fields, value: 'value', labels });
    assert.deepEqual(decoded, { ...observed(AT_MS + 250), series });
  }
  const absent = await decode('protobuf-first-prefix', 'protobuf', { ...fields, series: ['text'], value: 'text' });
  assert.equal(absent.kind === 'dead-letter' && absent.reason, 'time-missing');
});

test('a reader with the schema of the writer needs no defaults, and takes any name', () => {
  const { schema, body } = recorded.captured;
  const row = compileAvro({ type: 'AVRO', text: schema, references: [] })(Buffer.from(body, 'base64'));
  const expected = {
    series: 'kiln-1',
    timestamp: AT_MS,
    value: 26_588.24,
    rate: null,
    state: 'PAID',
    last_state: 'NEW',
  };
  assert.deepEqual({ ...(row as object) }, expected);
});

test("records of Apicurio's clients are read by the id of their content, others are refused with the setting", async () => {
  const { schemas, records } = await fixture('apicurio-records');
  const table = new SchemaTable();
  for (const [id, { schema, schemaType = 'AVRO' }] of Object.entries<{ schema: string; schemaType?: 'JSON' }>(schemas))
    table.schemas[Number(id) - 1] = { type: schemaType, text: schema, references: [] };
  const read = { ...observed(AT_MS), value: 2 ** 60, extras: { low: 100 } };
  const useId = 'apicurio.registry.use-id=contentId';
  const eight = new RegExp(`^schema id 0: .* set apicurio.registry.as-confluent=true and ${useId} at the sender$`);
  const outcomes: Record<string, RegExp | typeof read> = {
    'header-contentId': read,
    'prefix-contentId': read,
    'eight-bytes-contentId': eight,
    'header-globalId': new RegExp(`^the header apicurio.value.globalId .* set ${useId} at the sender$`),
    'json-prefix-globalId': new RegExp(`not know schema 2: Apicurio's clients need ${useId}$`),
    'avro-prefix-globalId': read,
    'avro/second-prefix-globalId': /not know schema 4: /,
    'protobuf-prefix-globalId': read,
    'eight-bytes-globalId': eight,
  };
  for (const { name, value, headers: named } of records) {
    const headers = named.map(([header, bytes]: [string, string]) => [header, Buffer.from(bytes, 'base64')]);
    const format = name.startsWith('json') ? 'json-schema' : name.startsWith('avro') ? 'avro' : 'protobuf';
    const decoded = await decodeBy(table, { value: Buffer.from(value, 'base64'), headers }, format);
    const outcome = outcomes[name] ?? outcomes[name.slice(name.indexOf('-') + 1)];
    if (outcome instanceof RegExp) assert.match(decoded.kind === 'dead-letter' ? decoded.detail : '', outcome, name);
    else assert.deepEqual(decoded, outcome, name);
  }
  // An Avro value that begins with the null of a union has no id before it.
  assert.deepEqual([...new Set(table.fetched)].sort(), [1, 2, 3, 4, 5]);
});

test('a framing that is not supported is named, and no schema is asked for', () => {
  const globalId: RecordHeaders = [['apicurio.value.globalId', Buffer.alloc(8, 1)]];
  const bad: [Buffer, RecordHeaders, RegExp][] = [
    [Buffer.from('{}'), [], /^no schema id: a registry client writes/],
    [Buffer.from('0000000002', 'hex'), globalId, /header apicurio\.value\.globalId of Apicurio's clients is no id/],
    [Buffer.from('x'), [['apicurio.value.contentId', Buffer.alloc(4, 1)]], /is 01010101, not an id in eight bytes/],
    [Buffer.from('000000000000000001aa', 'hex'), [], /^schema id 0: Apicurio's clients/],
    [Buffer.from('00ffffffff01', 'hex'), [], /^schema id 4294967295 is above 2147483647/],
    [Buffer.from('0300aabb', 'hex'), [], /AWS Glue/],
    [Buffer.from('x'), [['__value_schema_id', Buffer.from('0102', 'hex')]], /is 0102, neither 00 and an id nor 01/],
    [Buffer.from('x'), [['__value_schema_id', Buffer.from('07', 'hex')]], /is 07, neither/],
  ];
  for (const [value, headers, why] of bad) assert.match(String(readFrame(value, headers)), why);
  const frame = readFrame(Buffer.from('x'), [['__value_schema_id', Buffer.from('0000000007', 'hex')]]);
  assert.deepEqual(frame, { schema: 7, body: Buffer.from('x') });
});
