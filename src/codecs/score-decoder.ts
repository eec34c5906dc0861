import { SCORE_DEFAULTS, SCORE_FIELDS, SCORE_STATES, type ScoreRecord } from '../records/score-record.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader, type Fields, pickFields } from './record-reader.ts';
import type { OutputFormat } from './record-writer.ts';

/**
 * Decodes a score record of the same format, of any version of the service: unknown fields are left out. Rejects with
 * an Error when the value is not a score record, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeScore = (value: Buffer) => Promise<ScoreRecord>;

const NAME = 'a score record';

/** `schemas` is needed for `avro` only. For tools and tests: the stream never reads scores. */
export function createScoreDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeScore {
  return createRecordReader(format, schemas, { name: NAME, check: toScoreRecord });
}

function toScoreRecord(raw: unknown): ScoreRecord {
  const found = pickFields({ ...SCORE_DEFAULTS, ...(raw as object) }, FIELDS, NAME);
  if (!STATES.has(found.state)) throw new Error(`not ${NAME}: state`);
  found.window = pickFields(found.window, WINDOW_FIELDS, `${NAME}: window`);
  found.input = pickFields(found.input, INPUT_FIELDS, `${NAME}: input`);
  return found as unknown as ScoreRecord;
}

/** Made once: a consumer decodes tens of thousands a second. */
const FIELDS: Fields = Object.entries(SCORE_FIELDS);
const STATES: ReadonlySet<unknown> = new Set(SCORE_STATES);

const WINDOW_FIELDS: Fields = [
  ['start', 'integer'],
  ['end', 'integer'],
];

const INPUT_FIELDS: Fields = [
  ['topic', 'text'],
  ['partition', 'integer'],
  ['offset', 'integer'],
];
