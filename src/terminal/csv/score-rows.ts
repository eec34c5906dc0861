import type { ScoreRecord } from '../../record/score-record.ts';

const FIELDS: Readonly<Record<string, (score: ScoreRecord) => string | number | boolean | null>> = {
  series: ({ series }) => quotedField(series),
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

/** A score as a row of CSV: numbers in full precision, empty where there is none. */
export function scoreRow(score: ScoreRecord): string {
  return Object.values(FIELDS)
    .map((field) => field(score) ?? '')
    .join(',');
}

/** A text as a field of CSV (RFC 4180). */
export function quotedField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
