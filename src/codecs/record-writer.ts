import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamConfig } from '../config/config.ts';
import { type FieldSchemas, RECORD_FIELDS, type RecordName } from '../records/record-schema.ts';
import { compileAvroWriter } from './formats/avro.ts';
import { type SchemaRegistrar, valueSubject } from './formats/schema-source.ts';
import { WIRE_HEADER_BYTES, wireHeader } from './formats/wire-header.ts';

/** Format of the records that a worker writes. */
export type OutputFormat = StreamConfig['output']['format'];

export interface RecordDestination {
  readonly topic: string;
  /** null if the format needs none. */
  readonly registrar: SchemaRegistrar | null;
}

const SCHEMAS_DIR = join(import.meta.dirname, '../../schemas');

/**
 * Encodes records. The buffers belong to the caller. For `avro` and `json-schema` the schema is registered first, for
 * the values of the topic. Numbers keep the full precision of a double. Rejects with `schema-refused` when the registry
 * has an incompatible schema, and with `registry-unavailable` (retryable) when it is out of reach.
 */
export async function createRecordWriter<R extends object>(
  format: OutputFormat,
  { topic, registrar }: RecordDestination,
  schema: RecordName,
): Promise<(record: R) => Buffer> {
  // It writes a number that is not finite as null.
  if (format === 'json') return (record) => Buffer.from(JSON.stringify(record));
  if (registrar === null) throw new TypeError(`${format} needs a schema registry`);
  const [type, file] = format === 'avro' ? (['AVRO', 'avsc'] as const) : (['JSON', 'schema.json'] as const);
  const text = await readFile(join(SCHEMAS_DIR, `${schema}.${file}`), 'utf8');
  const header = wireHeader(await registrar.register(valueSubject(topic), { type, text }));
  if (format === 'json-schema') return (record) => withHeader(header, JSON.stringify(record));
  const write = compileAvroWriter(text, header);
  const numbers = numbersOrNull(schema);
  return (record) => {
    const written = { ...record } as Record<string, unknown>;
    for (const name of numbers) if (!Number.isFinite(written[name])) written[name] = null;
    return write(written);
  };
}

/** Numbers that Avro takes as null if they are not finite. */
function numbersOrNull(name: RecordName): readonly string[] {
  const fields = Object.entries(RECORD_FIELDS[name] as FieldSchemas);
  return fields.flatMap(([field, { type }]) => (type.includes('number') && type.includes('null') ? [field] : []));
}

function withHeader(header: Buffer, text: string): Buffer {
  const bytes = Buffer.allocUnsafe(WIRE_HEADER_BYTES + Buffer.byteLength(text));
  header.copy(bytes);
  bytes.write(text, WIRE_HEADER_BYTES);
  return bytes;
}
