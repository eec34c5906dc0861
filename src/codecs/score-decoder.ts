import { SCORE_DEFAULTS, type ScoreRecord } from '../records/score-record.ts';
import type { SchemaSource } from './formats/schema-source.ts';
import { createRecordReader } from './record-reader.ts';
import type { OutputFormat } from './record-writer.ts';

/**
 * Decodes a score record of the same format, of any version of the service: unknown fields are omitted. Rejects with
 * an Error when the value is not a score record, and with `registry-unavailable` when a schema cannot be fetched.
 */
export type DecodeScore = (value: Buffer) => Promise<ScoreRecord>;

/** `schemas` is needed for `avro` only. For tools and tests: the stream never reads scores. */
export function createScoreDecoder(format: OutputFormat, schemas: SchemaSource | null = null): DecodeScore {
  return createRecordReader(format, schemas, { schema: 'anomaly-score', name: 'a score record', complete });
}

const complete = (raw: object | null) => ({ ...SCORE_DEFAULTS, ...raw });
