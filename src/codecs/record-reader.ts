import { type FieldKind, isOfKind } from '../records/field-kind.ts';
import { compileAvro, type ReadRecord } from './formats/avro.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { readFrame, type SchemaKey } from './formats/wire-header.ts';
import type { OutputFormat } from './record-writer.ts';

/** The check of a record, and its name in errors: `a score record`. */
interface ReadableRecord<R> {
  readonly name: string;
  /** Checks the fields. Throws an Error where the record is another one. */
  readonly check: (raw: unknown) => R;
}

/**
 * Reads records that a worker wrote, of any version of the service. The function rejects with an Error when a value is
 * another record, and with `registry-unavailable` when a schema cannot be fetched.
 * @param schemas needed for `avro` only
 */
export function createRecordReader<R>(
  format: OutputFormat,
  schemas: SchemaSource | null,
  { name, check }: ReadableRecord<R>,
): (value: Buffer) => Promise<R> {
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
    const read = readers.get(schema) ?? (await fetchReader(schemas, schema));
    readers.set(schema, read);
    return check(read(body));
  };
}

async function fetchReader(schemas: SchemaSource, schemaId: SchemaKey): Promise<ReadRecord> {
  const schema = await schemas.fetch(schemaId);
  if (schema === null) throw new Error(`the registry does not know schema ${schemaId}`);
  if (schema.type !== 'AVRO') throw new Error(`schema ${schemaId} is of type ${schema.type}, not AVRO`);
  return compileAvro(schema);
}

export type Fields = readonly (readonly [string, FieldKind])[];

/** The named fields of `raw`; others are left out. Throws an Error where one is missing or of another kind. */
export function pickFields(raw: unknown, fields: Fields, name: string): Record<string, unknown> {
  const object = (typeof raw === 'object' ? raw : null) as Record<string, unknown> | null;
  const found: Record<string, unknown> = {};
  for (const [field, kind] of fields) {
    const value = object?.[field];
    if (!isOfKind(value, kind)) throw new Error(`not ${name}: ${field}`);
    found[field] = value;
  }
  return found;
}
