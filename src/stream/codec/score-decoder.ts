import {
  SCORE_DEFAULTS,
  SCORE_FIELDS,
  SCORE_STATES,
  type ScoreFieldKind,
  type ScoreRecord,
} from '../record/score-record.ts';
import { compileAvro, type ReadRecord } from './avro.ts';
import type { SchemaSource } from './schema-source.ts';
import type { ScoreFormat } from './score-encoder.ts';
import { readSchemaId, WIRE_HEADER_BYTES } from './wire-header.ts';

/**
 * Decodes a score record of the same format, of any version of the service: unknown fields are left out. Rejects with
 * an Error when the value is not a score record, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeScore = (value: Buffer) => Promise<ScoreRecord>;

/** `schemas` is needed for `avro` only. For tools and tests: the stream never reads scores. */
export function createScoreDecoder(format: ScoreFormat, schemas: SchemaSource | null = null): DecodeScore {
  if (format === 'json') return async (value) => toScoreRecord(JSON.parse(value.toString()));
  if (format === 'json-schema') {
    return async (value) => {
      schemaIdOf(value);
      return toScoreRecord(JSON.parse(value.toString('utf8', WIRE_HEADER_BYTES)));
    };
  }
  if (schemas === null) throw new TypeError('avro scores need a schema registry');
  const readers = new Map<number, ReadRecord>();
  return async (value) => {
    const schemaId = schemaIdOf(value);
    const read = readers.get(schemaId) ?? (await fetchReader(schemas, schemaId));
    readers.set(schemaId, read);
    return toScoreRecord(read(value));
  };
}

function schemaIdOf(value: Buffer): number {
  const schemaId = readSchemaId(value);
  if (schemaId === null) throw new Error('not a score record: it has no schema id');
  return schemaId;
}

async function fetchReader(schemas: SchemaSource, schemaId: number): Promise<ReadRecord> {
  const schema = await schemas.fetch(schemaId);
  if (schema === null) throw new Error(`the registry does not know schema ${schemaId}`);
  if (schema.type !== 'AVRO') throw new Error(`schema ${schemaId} is of type ${schema.type}, not AVRO`);
  return compileAvro(schema);
}

function toScoreRecord(raw: unknown): ScoreRecord {
  const fields = Object.entries(SCORE_FIELDS);
  const found = pick({ ...SCORE_DEFAULTS, ...(raw as object) }, fields, '');
  if (!SCORE_STATES.some((state) => state === found.state)) throw new Error('not a score record: state');
  found.window = pick(found.window, WINDOW_FIELDS, 'window.');
  found.input = pick(found.input, INPUT_FIELDS, 'input.');
  return found as unknown as ScoreRecord;
}

type Fields = readonly (readonly [string, ScoreFieldKind])[];

const WINDOW_FIELDS: Fields = [
  ['start', 'integer'],
  ['end', 'integer'],
];

const INPUT_FIELDS: Fields = [
  ['topic', 'text'],
  ['partition', 'integer'],
  ['offset', 'integer'],
];

function pick(raw: unknown, fields: Fields, prefix: string): Record<string, unknown> {
  const object = (typeof raw === 'object' ? raw : null) as Record<string, unknown> | null;
  const found: Record<string, unknown> = {};
  for (const [name, kind] of fields) {
    const value = object?.[name];
    if (!isOfKind(value, kind)) throw new Error(`not a score record: ${prefix}${name}`);
    found[name] = value;
  }
  return found;
}

function isOfKind(value: unknown, kind: ScoreFieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'text-or-null':
      return value === null || typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'number-or-null':
      return value === null || typeof value === 'number';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'object':
      return typeof value === 'object' && value !== null;
  }
}
