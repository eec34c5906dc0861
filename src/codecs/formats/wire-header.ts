import type { RecordMapping } from '../../config/config.ts';
import type { RecordHeaders } from '../../kafka/batch/records.ts';

/** Length of the header of registry clients: a zero byte, then the schema id as a big-endian 32-bit integer. */
export const WIRE_HEADER_BYTES = 5;

/** The record header in which registry clients may name the schema of a value instead. */
const SCHEMA_HEADER = '__value_schema_id';
/** Those of Apicurio's own clients: only ids of contents are ids of Confluent's API. */
const [CONTENT_ID, GLOBAL_ID] = ['apicurio.value.contentId', 'apicurio.value.globalId'];
/** The name of the message type of Protobuf. */
const MESSAGE_TYPE = 'apicurio.protobuf.type';

const SCHEMA_HEADERS: readonly string[] = [SCHEMA_HEADER, CONTENT_ID, GLOBAL_ID, MESSAGE_TYPE];

/** Headers of a record that its decoder needs. */
export function schemaHeadersOf(format: RecordMapping['format']): readonly string[] {
  return ['avro', 'protobuf', 'json-schema'].includes(format) ? SCHEMA_HEADERS : [];
}

/** The name of a schema: its id, or its GUID. */
export type SchemaKey = number | string;

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

/** A value with the schema that it names. In Protobuf `body` begins with its message type, unless a header names it. */
interface FramedValue {
  readonly schema: SchemaKey;
  readonly body: Buffer;
  readonly messageType?: string;
}

const ID_MAGIC = 0;
const GUID_MAGIC = 1;
const GLUE_MAGIC = 3;
const GUID_HEADER_BYTES = 17;
/** Registries number schemas from 1 in 31 bits. */
const SCHEMA_ID_MAX = 2 ** 31 - 1;

/** The schema by the record's header, or by the bytes before its value; a text why there is none. */
export function readFrame(value: Buffer, headers: RecordHeaders = []): FramedValue | string {
  const headerOf = (header: string) => headers.findLast(([name]) => name === header)?.[1] ?? null;
  const named = headerOf(SCHEMA_HEADER);
  if (named === null) {
    const contentId = headerOf(CONTENT_ID);
    if (contentId !== null) return readContent(value, contentId, headerOf(MESSAGE_TYPE));
    if (headerOf(GLOBAL_ID) === null) return readPrefix(value);
    return `the header ${GLOBAL_ID} of Apicurio's clients is no id of Confluent's API: set ${USE_ID} at the sender`;
  }
  const [bytes, schema] =
    named[0] === GUID_MAGIC ? [GUID_HEADER_BYTES, guidOf(named)] : [WIRE_HEADER_BYTES, idOf(named)];
  if (schema === null || named.length < bytes) {
    const found = named.toString('hex').slice(0, 40);
    return `the header ${SCHEMA_HEADER} is ${found}, neither 00 and an id nor 01 and a GUID`;
  }
  return { schema, body: named.length === bytes ? value : Buffer.concat([named.subarray(bytes), value]) };
}

function readContent(body: Buffer, contentId: Buffer, type: Buffer | null): FramedValue | string {
  const schema = contentId.length === 8 ? Number(contentId.readBigUInt64BE()) : 0;
  if (schema < 1 || schema > SCHEMA_ID_MAX)
    return `the header ${CONTENT_ID} is ${contentId.toString('hex').slice(0, 40)}, not an id in eight bytes`;
  return { schema, body, ...(type !== null && { messageType: type.toString() }) };
}

function readPrefix(value: Buffer): FramedValue | string {
  const schema = idOf(value);
  if (schema !== null) return { schema, body: value.subarray(WIRE_HEADER_BYTES) };
  const expected = 'a registry client writes a zero byte and four bytes of id before the value';
  if (value[0] === GLUE_MAGIC)
    return `the value begins as those of AWS Glue's registry, which is not supported: ${expected}`;
  if (value[0] !== ID_MAGIC || value.length < WIRE_HEADER_BYTES) return `no schema id: ${expected}`;
  const id = value.readUInt32BE(1);
  if (id === 0) return `schema id 0: Apicurio's clients may write eight bytes of id; set ${AS_CONFLUENT} at the sender`;
  return `schema id ${id} is above ${SCHEMA_ID_MAX}: ${expected}`;
}

/** The other ids of Apicurio's clients may be those of other schemas in Confluent's API. */
export const USE_ID = 'apicurio.registry.use-id=contentId';
const AS_CONFLUENT = `apicurio.registry.as-confluent=true and ${USE_ID}`;

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
