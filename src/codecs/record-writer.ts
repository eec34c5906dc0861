import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamConfig } from '../config/config.ts';
import { compileAvroWriter } from './formats/avro.ts';
import { type SchemaRegistrar, valueSubject } from './formats/schema-source.ts';
import { WIRE_HEADER_BYTES, wireHeader } from './formats/wire-header.ts';
import { bytesOfText } from './record-bytes.ts';

/** Format of the records that a worker writes. */
export type OutputFormat = StreamConfig['output']['format'];

export interface RecordDestination {
  readonly topic: string;
  /** null where the format needs none. */
  readonly registrar: SchemaRegistrar | null;
}

interface WritableRecord<R> {
  readonly schema: string;
  /** Numbers, which Avro takes as null if they are not finite. */
  readonly numbers: readonly (keyof R)[];
}

const SCHEMAS_DIR = join(import.meta.dirname, '../../schemas');

/**
 * Encodes records. The buffers belong to the caller. For `avro` and `json-schema` the schema is registered first, for
 * the values of the topic. Numbers keep the full precision of a double. Rejects with `schema-refused` when the registry
 * has an incompatible schema, and with `registry-unavailable` (retryable) when it is out of reach.
 */
export async function createRecordWriter<R>(
  format: OutputFormat,
  { topic, registrar }: RecordDestination,
  { schema, numbers }: WritableRecord<R>,
): Promise<(record: R) => Buffer> {
  // It writes a number that is not finite as null.
  if (format === 'json') return (record) => bytesOfText(JSON.stringify(record));
  if (registrar === null) throw new TypeError(`${format} needs a schema registry`);
  const [type, file] = format === 'avro' ? (['AVRO', 'avsc'] as const) : (['JSON', 'schema.json'] as const);
  const text = await readFile(join(SCHEMAS_DIR, `${schema}.${file}`), 'utf8');
  const header = wireHeader(await registrar.register(valueSubject(topic), { type, text }));
  if (format === 'json-schema') return (record) => withHeader(header, JSON.stringify(record));
  const write = compileAvroWriter(text, header);
  return (record) => {
    const written: Record<keyof R, unknown> = { ...record };
    for (const name of numbers) if (!Number.isFinite(written[name])) written[name] = null;
    return write(written);
  };
}

function withHeader(header: Buffer, text: string): Buffer {
  const bytes = Buffer.allocUnsafe(WIRE_HEADER_BYTES + Buffer.byteLength(text));
  header.copy(bytes);
  bytes.write(text, WIRE_HEADER_BYTES);
  return bytes;
}
