import type { ScoreRecord } from '../records/score-record.ts';
import { jsonScores } from './json-scores.ts';
import { createRecordWriter, type OutputFormat, type RecordDestination } from './record-writer.ts';

/** Encodes a score record. The buffer belongs to the caller. */
export type EncodeScore = (score: ScoreRecord) => Buffer;

/** Rejects as `createRecordWriter` does. */
export async function createScoreEncoder(format: OutputFormat, destination: RecordDestination): Promise<EncodeScore> {
  if (format === 'json') return jsonScores();
  return createRecordWriter<ScoreRecord>(format, destination, 'anomaly-score');
}
