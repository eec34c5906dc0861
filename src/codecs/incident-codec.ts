import type { Incident } from '../records/incident.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader } from './record-reader.ts';
import { createRecordWriter, type OutputFormat, type RecordDestination } from './record-writer.ts';

/** Encodes a record of the incidents topic. The buffer belongs to the caller. */
type EncodeIncident = (incident: Incident) => Buffer;

/** Rejects as `createRecordWriter` does. */
export function createIncidentEncoder(format: OutputFormat, destination: RecordDestination): Promise<EncodeIncident> {
  return createRecordWriter<Incident>(format, destination, 'anomaly-incident');
}

/**
 * Decodes a record of the incidents topic: unknown fields are omitted. Rejects with an Error when the value is not an
 * incident, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeIncident = (value: Buffer) => Promise<Incident>;

/** `schemas` is needed for `avro` only. */
export function createIncidentDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeIncident {
  return createRecordReader(format, schemas, { schema: 'anomaly-incident', name: 'an incident' });
}
