import type { SeriesNow, SeriesScoresAnswer } from '../../../api/wire/schema/operations/history-schema.ts';

/** Scores of one series as pages show them: columns, oldest first. */
export type ShownScores = Pick<
  SeriesScoresAnswer,
  'timestampMs' | 'value' | 'value_min' | 'value_max' | 'forecast' | 'lo' | 'hi' | 'grade' | 'alarms' | 'bucket_ms'
>;

export type ShownSeries = Pick<
  SeriesNow,
  'series' | 'detector' | 'group' | 'timestampMs' | 'value' | 'grade' | 'state' | 'alarm' | 'recent' | 'ended'
>;

export const NO_SCORES: ShownScores = {
  timestampMs: [],
  value: [],
  value_min: [],
  value_max: [],
  forecast: [],
  lo: [],
  hi: [],
  grade: [],
  alarms: [],
  bucket_ms: null,
};
