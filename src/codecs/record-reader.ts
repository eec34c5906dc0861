import { type FieldSchema, type FieldSchemas, RECORD_FIELDS, type RecordName } from '../records/record-schema.ts';
import { compileAvro, type ReadRecord } from './formats/avro.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { readFrame, type SchemaKey } from './formats/wire-header.ts';
import type { OutputFormat } from './record-writer.ts';

/** A record by its published schema, and its name in errors: `a score record`. */
interface ReadableRecord {
  readonly schema: RecordName;
  readonly name: string;
  /** Adds the fields that records of earlier versions lack. */
  readonly complete?: (raw: object | null) => object;
}

/**
 * Reads records that a worker wrote, of any version of the service. The function rejects with an Error when a value is
 * another record, and with `registry-unavailable` when a schema cannot be fetched.
 * @param schemas needed for `avro` only
 */
export function createRecordReader<R>(
  format: OutputFormat,
  schemas: SchemaSource | null,
  { schema: recordName, name, complete = (raw) => raw ?? {} }: ReadableRecord,
): (value: Buffer) => Promise<R> {
  const read = fieldsReader(RECORD_FIELDS[recordName], name);
  const check = (raw: unknown) => read(complete(raw as object | null)) as R;
  const frameOf = (value: Buffer) => {
    const frame = readFrame(value);
    if (typeof frame === 'string') throw new Error(`not ${name}: ${frame}`);
    return frame;
  };
  if (format === 'json') return async (value) => check(JSON.parse(value.toString()));
  if (format === 'json-schema') return async (value) => check(JSON.parse(frameOf(value).body.toString()));
  if (schemas === null) throw new TypeError(`avro: ${name} needs a schema registry`);
  const readers = new Map<SchemaKey, ReadRecord>();
  return async (value) => {
    const { schema, body } = frameOf(value);
    const decode = readers.get(schema) ?? (await fetchReader(schemas, schema));
    readers.set(schema, decode);
    return check(decode(body));
  };
}

async function fetchReader(schemas: SchemaSource, schemaId: SchemaKey): Promise<ReadRecord> {
  const schema = await schemas.fetch(schemaId);
  if (schema === null) throw new Error(`the registry does not know schema ${schemaId}`);
  if (schema.type !== 'AVRO') throw new Error(`schema ${schemaId} is of type ${schema.type}, not AVRO`);
  return compileAvro(schema);
}

type ReadValue = (value: unknown) => unknown;

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
};

/** Reads the named fields of an object. Throws an Error where one is missing or of another type. */
function fieldsReader(fields: FieldSchemas, name: string): ReadValue {
  // Made once: a consumer decodes tens of thousands a second.
  const readers = Object.entries(fields).map(
    ([field, schema]) => [field, readerOf(schema, `${name}: ${field}`)] as const,
  );
  return (object) => {
    const found: Record<string, unknown> = {};
    for (const [field, read] of readers) found[field] = read((object as Record<string, unknown>)[field]);
    return found;
  };
}

function readerOf({ type, enum: listed, ...parts }: FieldSchema, name: string): ReadValue {
  const types = [type].flat().map((each) => TYPES[each]);
  const readParts = partsReader(parts, name);
  return (value) => {
    const isValid = types.some((isOf) => isOf(value)) && (listed?.includes(value) ?? true);
    if (!isValid) throw new Error(`not ${name}`);
    return value === null ? null : readParts(value);
  };
}

function partsReader(
  { properties, items, additionalProperties }: Omit<FieldSchema, 'type' | 'enum'>,
  name: string,
): ReadValue {
  if (properties !== undefined) return fieldsReader(properties, name);
  if (items !== undefined) {
    const read = readerOf(items, name);
    return (list) => (list as readonly unknown[]).map(read);
  }
  if (typeof additionalProperties !== 'object') return (value) => value;
  const read = readerOf(additionalProperties, name);
  // Avro makes maps without a prototype.
  return (map) => Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, read(value)]));
}
