import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamConfig } from '../../config/config.ts';
import type { ScoreRecord } from '../record/score-record.ts';
import { compileAvroWriter } from './avro.ts';
import { type SchemaRegistrar, valueSubject } from './schema-source.ts';
import { WIRE_HEADER_BYTES, wireHeader } from './wire-header.ts';

export type ScoreFormat = StreamConfig['output']['format'];

/** Encodes a score record. The buffer belongs to the caller. */
export type EncodeScore = (score: ScoreRecord) => Buffer;

const SCHEMAS_DIR = join(import.meta.dirname, '../../../schemas');

/**
 * For `avro` and `json-schema` the schema of a score is registered first, for the values of `topic`. Numbers keep the
 * full precision of a double. Rejects with `schema-refused` when the registry has an incompatible schema, and with
 * `registry-unavailable` (retryable) when it is out of reach.
 */
export async function createScoreEncoder(
  format: ScoreFormat,
  options: { readonly topic: string; readonly registrar: SchemaRegistrar | null },
): Promise<EncodeScore> {
  // JSON.stringify is faster than a hand-written encoder, and writes a number that is not finite as null.
  if (format === 'json') return (score) => Buffer.from(JSON.stringify(score));
  const { topic, registrar } = options;
  if (registrar === null) throw new TypeError(`${format} scores need a schema registry`);
  const [type, file] =
    format === 'avro' ? (['AVRO', 'anomaly-score.avsc'] as const) : (['JSON', 'anomaly-score.schema.json'] as const);
  const text = await readFile(join(SCHEMAS_DIR, file), 'utf8');
  const header = wireHeader(await registrar.register(valueSubject(topic), { type, text }));
  return format === 'avro' ? encodeAvro(text, header) : encodeJsonSchema(header);
}

function encodeAvro(schemaText: string, header: Buffer): EncodeScore {
  const write = compileAvroWriter(schemaText, header);
  return (score) =>
    write({
      ...score,
      forecast: finiteOrNull(score.forecast),
      lo: finiteOrNull(score.lo),
      hi: finiteOrNull(score.hi),
      anomalyScore: finiteOrNull(score.anomalyScore),
      accumulatedAnomalyScore: finiteOrNull(score.accumulatedAnomalyScore),
      grade: finiteOrNull(score.grade),
      severity: finiteOrNull(score.severity),
    });
}

function encodeJsonSchema(header: Buffer): EncodeScore {
  return (score) => {
    const text = JSON.stringify(score);
    const bytes = Buffer.allocUnsafe(WIRE_HEADER_BYTES + Buffer.byteLength(text));
    header.copy(bytes);
    bytes.write(text, WIRE_HEADER_BYTES);
    return bytes;
  };
}

function finiteOrNull(number: number | null): number | null {
  return number !== null && Number.isFinite(number) ? number : null;
}
