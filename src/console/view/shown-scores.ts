import type { SeriesNow, SeriesScoresAnswer } from '../../api/wire/schema/history-schema.ts';

/** What the pages show of the scores of one series: columns, oldest first. */
export type ShownScores = Pick<
  SeriesScoresAnswer,
  'timestampMs' | 'value' | 'value_min' | 'value_max' | 'forecast' | 'lo' | 'hi' | 'grade' | 'alarms' | 'bucket_ms'
>;

/** What the pages show of the newest score of a series. */
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
