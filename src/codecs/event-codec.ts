import {
  type AnomalyEvent,
  CLOSE_REASONS,
  EVENT_DIRECTIONS,
  EVENT_FIELDS,
  EVENT_KINDS,
  EVENT_TYPES,
  type EventMember,
  withEventDefaults,
} from '../records/anomaly-event.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader, type Fields, pickFields } from './record-reader.ts';
import { createRecordWriter, type OutputFormat, type RecordDestination } from './record-writer.ts';

/** Encodes a record of the events topic. The buffer belongs to the caller. */
export type EncodeEvent = (event: AnomalyEvent) => Buffer;

/** Rejects as `createRecordWriter` does. */
export function createEventEncoder(format: OutputFormat, destination: RecordDestination): Promise<EncodeEvent> {
  return createRecordWriter<AnomalyEvent>(format, destination, {
    schema: 'anomaly-event',
    numbers: ['severity', 'grade', 'value', 'expected', 'lo', 'hi', 'threshold'],
  });
}

/**
 * Decodes a record of the events topic, of any version of the service: unknown fields are left out. Rejects with an
 * Error when the value is not an event, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeEvent = (value: Buffer) => Promise<AnomalyEvent>;

const NAME = 'an event';

/** `schemas` is needed for `avro` only. For what consumes events: the stream never reads them. */
export function createEventDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeEvent {
  return createRecordReader(format, schemas, { name: NAME, check: toEvent });
}

const LISTS = {
  type: EVENT_TYPES,
  kind: EVENT_KINDS,
  direction: EVENT_DIRECTIONS,
  closeReason: CLOSE_REASONS,
} as const satisfies Partial<Record<keyof AnomalyEvent, readonly string[]>>;

const MEMBER_FIELDS: Fields = [
  ['series', 'text'],
  ['share', 'number'],
];

function toEvent(raw: unknown): AnomalyEvent {
  const found = pickFields(withEventDefaults(raw as object), Object.entries(EVENT_FIELDS), NAME);
  for (const [field, list] of Object.entries(LISTS)) {
    const value = found[field];
    if (value !== null && !list.some((known) => known === value)) throw new Error(`not ${NAME}: ${field}`);
  }
  const members = found.members as readonly unknown[];
  found.members = members.map(
    (member) => pickFields(member, MEMBER_FIELDS, `${NAME}: members`) as unknown as EventMember,
  );
  for (const map of ['labels', 'seriesLabels']) {
    // Avro makes maps without a prototype.
    found[map] = { ...(found[map] as object) };
    if (Object.values(found[map] as object).some((label) => typeof label !== 'string')) {
      throw new Error(`not ${NAME}: ${map}`);
    }
  }
  return found as unknown as AnomalyEvent;
}
