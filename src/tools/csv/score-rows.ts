import type { ScoreRecord } from '../../records/score-record.ts';
import { csvField } from '../../records/text/csv-field.ts';

const FIELDS: Readonly<Record<string, (score: ScoreRecord) => string | number | boolean | null>> = {
  series: ({ series }) => csvField(series),
  timestamp: ({ timestampMs }) => new Date(timestampMs).toISOString(),
  value: ({ value }) => value,
  forecast: ({ forecast }) => forecast,
  lo: ({ lo }) => lo,
  hi: ({ hi }) => hi,
  level: ({ level }) => level,
  anomalyScore: ({ anomalyScore }) => anomalyScore,
  accumulatedAnomalyScore: ({ accumulatedAnomalyScore }) => accumulatedAnomalyScore,
  anomaly: ({ anomaly }) => anomaly,
  grade: ({ grade }) => grade,
  severity: ({ severity }) => severity,
  alarm: ({ alarm }) => alarm,
  state: ({ state }) => state,
  position: ({ position }) => position,
  windowStart: ({ window }) => window.start,
  windowEnd: ({ window }) => window.end,
};

export const SCORE_ROW_HEADER = Object.keys(FIELDS).join(',');

/** A score as a row of CSV: numbers in full precision, empty if there is none. */
export function scoreRow(score: ScoreRecord): string {
  return Object.values(FIELDS)
    .map((field) => field(score) ?? '')
    .join(',');
}

/** A value at its time as a row of CSV, as `--warm-start` reads it. */
export function observationRow(row: {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number | null;
}): string {
  return [csvField(row.series), new Date(row.timestampMs).toISOString(), row.value].join(',');
}
