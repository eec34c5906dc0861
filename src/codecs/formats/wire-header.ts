import type { RecordMapping } from '../../config/config.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';

/** Length of the header of registry clients: a zero byte, then the schema id as a big-endian 32-bit integer. */
export const WIRE_HEADER_BYTES = 5;

/** The record header in which registry clients may name the schema of a value instead. */
const SCHEMA_HEADER = '__value_schema_id';
/** Those of Apicurio's own clients. */
const APICURIO_HEADERS = ['apicurio.value.globalId', 'apicurio.value.contentId'];

const SCHEMA_HEADERS: readonly string[] = [SCHEMA_HEADER, ...APICURIO_HEADERS];

/** Headers of a record that its decoder needs. */
export function schemaHeadersOf(format: RecordMapping['format']): readonly string[] {
  return ['avro', 'protobuf', 'json-schema'].includes(format) ? SCHEMA_HEADERS : [];
}

/** The name of a schema: its id, or its GUID. */
export type SchemaKey = number | string;

/** A record as its topic has it. */
export interface EncodedRecord {
  readonly value: Buffer;
  readonly headers?: RecordHeaders;
}

/** False for a tombstone: it deletes its key in a compacted topic, and observes nothing. */
export function hasValue<R extends { readonly value: Buffer | null }>(
  record: R,
): record is R & { readonly value: Buffer } {
  return record.value !== null;
}

/** A value with the schema that it names. `body` begins with the message indexes in Protobuf. */
interface FramedValue {
  readonly schema: SchemaKey;
  readonly body: Buffer;
}

const ID_MAGIC = 0;
const GUID_MAGIC = 1;
const GLUE_MAGIC = 3;
const GUID_HEADER_BYTES = 17;
/** Registries number schemas from 1 in 31 bits. */
const SCHEMA_ID_MAX = 2 ** 31 - 1;

/** The schema by the record's header, or by the bytes before its value; a text why there is none. */
export function readFrame(value: Buffer, headers: RecordHeaders = []): FramedValue | string {
  const named = headers.findLast(([name]) => name === SCHEMA_HEADER)?.[1] ?? null;
  if (named === null) return readPrefix(value, headers);
  const [bytes, schema] =
    named[0] === GUID_MAGIC ? [GUID_HEADER_BYTES, guidOf(named)] : [WIRE_HEADER_BYTES, idOf(named)];
  if (schema === null || named.length < bytes) {
    const found = named.toString('hex').slice(0, 40);
    return `the header ${SCHEMA_HEADER} is ${found}, neither 00 and an id nor 01 and a GUID`;
  }
  return { schema, body: named.length === bytes ? value : Buffer.concat([named.subarray(bytes), value]) };
}

function readPrefix(value: Buffer, headers: RecordHeaders): FramedValue | string {
  const schema = idOf(value);
  if (schema !== null) return { schema, body: value.subarray(WIRE_HEADER_BYTES) };
  const expected = 'a registry client writes a zero byte and four bytes of id before the value';
  const apicurio = headers.find(([name]) => APICURIO_HEADERS.includes(name));
  if (apicurio !== undefined)
    return `the schema is named by the header ${apicurio[0]} of Apicurio's clients: ${REMEDY}`;
  if (value[0] === GLUE_MAGIC)
    return `the value begins as those of AWS Glue's registry, which is not supported: ${expected}`;
  if (value[0] !== ID_MAGIC || value.length < WIRE_HEADER_BYTES) return `no schema id: ${expected}`;
  const id = value.readUInt32BE(1);
  if (id === 0) return `schema id 0: Apicurio's clients may write eight bytes of id; ${REMEDY}`;
  return `schema id ${id} is above ${SCHEMA_ID_MAX}: ${expected}`;
}

const REMEDY = 'set apicurio.registry.as-confluent=true and apicurio.registry.headers.enabled=false at the sender';

function idOf(bytes: Buffer): number | null {
  if (bytes.length < WIRE_HEADER_BYTES || bytes[0] !== ID_MAGIC) return null;
  const id = bytes.readUInt32BE(1);
  return id > 0 && id <= SCHEMA_ID_MAX ? id : null;
}

function guidOf(bytes: Buffer): string {
  return bytes.toString('hex', 1, GUID_HEADER_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A record whose headers may pass on: those that name the schema of its value do not. */
export function withoutSchemaHeaders<R extends { readonly headers?: RecordHeaders }>(record: R): R {
  if (record.headers === undefined) return record;
  const { headers, ...bare } = record;
  const passed = headers.filter(([name]) => !SCHEMA_HEADERS.includes(name));
  return (passed.length === 0 ? bare : { ...bare, headers: passed }) as R;
}

export function wireHeader(schemaId: number): Buffer {
  const header = Buffer.alloc(WIRE_HEADER_BYTES);
  header.writeUInt32BE(schemaId, 1);
  return header;
}
