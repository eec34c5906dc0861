import { EVENT_DIRECTIONS, EVENT_KINDS } from '../records/anomaly-event.ts';
import { INCIDENT_FIELDS, INCIDENT_KINDS, INCIDENT_TYPES, type Incident } from '../records/incident.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader, type Fields, pickFields } from './record-reader.ts';
import { createRecordWriter, type OutputFormat, type RecordDestination } from './record-writer.ts';

/** Encodes a record of the incidents topic. The buffer belongs to the caller. */
type EncodeIncident = (incident: Incident) => Buffer;

/** Rejects as `createRecordWriter` does. */
export function createIncidentEncoder(format: OutputFormat, destination: RecordDestination): Promise<EncodeIncident> {
  return createRecordWriter<Incident>(format, destination, {
    schema: 'anomaly-incident',
    numbers: ['severity', 'grade'],
  });
}

/**
 * Decodes a record of the incidents topic: unknown fields are left out. Rejects with an Error when the value is not an
 * incident, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeIncident = (value: Buffer) => Promise<Incident>;

const NAME = 'an incident';

const EVENT: Fields = [
  ['eventId', 'text'],
  ['detector', 'text'],
  ['series', 'text-or-null'],
  ['group', 'text-or-null'],
  ['kind', 'text'],
  ['direction', 'text'],
  ['startedAtMs', 'integer'],
  ['labels', 'map'],
  ['seriesLabels', 'map'],
];

const ORIGIN: Fields = [
  ['series', 'text'],
  ['common', 'text-or-null'],
  ['score', 'number'],
  ['evidence', 'list'],
];

/** `schemas` is needed for `avro` only. */
export function createIncidentDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeIncident {
  return createRecordReader(format, schemas, { name: NAME, check: toIncident });
}

function toIncident(raw: unknown): Incident {
  const found = pickFields(raw, Object.entries(INCIDENT_FIELDS), NAME);
  requireOneOf(found.type, INCIDENT_TYPES, 'type');
  requireOneOf(found.kind, INCIDENT_KINDS, 'kind');
  found.events = partsIn(found.events, EVENT, 'events');
  for (const { kind, direction } of found.events as Incident['events']) {
    requireOneOf(kind, EVENT_KINDS, 'events');
    requireOneOf(direction, EVENT_DIRECTIONS, 'events');
  }
  for (const field of ['origins', 'openedOrigins']) found[field] = partsIn(found[field], ORIGIN, field);
  const { origins, openedOrigins } = found as unknown as Incident;
  const evidence: readonly unknown[] = [...origins, ...openedOrigins].flatMap((origin) => origin.evidence);
  if (evidence.some((each) => typeof each !== 'string')) throw new Error(`not ${NAME}: evidence`);
  return found as unknown as Incident;
}

function partsIn(list: unknown, fields: Fields, field: string): readonly object[] {
  return (list as readonly unknown[]).map((part) => pickFields(part, fields, `${NAME}: ${field}`));
}

function requireOneOf(value: unknown, list: readonly string[], field: string): void {
  if (!list.some((known) => known === value)) throw new Error(`not ${NAME}: ${field}`);
}
