import { type AnomalyEvent, withEventDefaults } from '../records/anomaly-event.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader } from './record-reader.ts';
import { createRecordWriter, type OutputFormat, type RecordDestination } from './record-writer.ts';

/** Encodes a record of the events topic. The buffer belongs to the caller. */
export type EncodeEvent = (event: AnomalyEvent) => Buffer;

/** Rejects as `createRecordWriter` does. */
export function createEventEncoder(format: OutputFormat, destination: RecordDestination): Promise<EncodeEvent> {
  return createRecordWriter<AnomalyEvent>(format, destination, 'anomaly-event');
}

/**
 * Decodes a record of the events topic, of any version of the service: unknown fields are omitted. Rejects with an
 * Error when the value is not an event, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeEvent = (value: Buffer) => Promise<AnomalyEvent>;

/** `schemas` is needed for `avro` only. For what consumes events: the stream never reads them. */
export function createEventDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeEvent {
  return createRecordReader(format, schemas, {
    schema: 'anomaly-event',
    name: 'an event',
    complete: withEventDefaults,
  });
}
