import type { SeriesNow, SeriesScoresAnswer } from '../../../api/wire/schema/operations/history-schema.ts';
import { spreadsheetField } from '../../../records/text/csv-field.ts';

export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const SPAN_MIN_MS = 30_000;

/** Wider (factor above 1) or narrower, around a moment that stays where it is. */
export function zoomed({ from, to }: TimeRange, factor: number, around: number): TimeRange {
  const span = Math.max(SPAN_MIN_MS, (to - from) * factor);
  const share = to > from ? (around - from) / (to - from) : 0.5;
  const start = around - share * span;
  return { from: Math.round(start), to: Math.round(start + span) };
}

/** Moved by a share of its length; backwards where it is negative. */
export function panned({ from, to }: TimeRange, share: number): TimeRange {
  const by = Math.round((to - from) * share);
  return { from: from + by, to: to + by };
}

/** The range with the newest score at its right edge. */
export function following({ from, to }: TimeRange, newest: number): TimeRange {
  return { from: newest - (to - from), to: newest };
}

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

type Cell = number | null;
type ColumnName = Exclude<keyof ShownScores, 'bucket_ms'>;

/** The scores with other columns, each made of the one of its name. */
export function withColumns(
  scores: ShownScores,
  of: (column: readonly Cell[], name: ColumnName) => Cell[],
): ShownScores {
  const { bucket_ms: _, ...columns } = NO_SCORES;
  const made = (Object.keys(columns) as ColumnName[]).map((name) => [name, of(scores[name], name)] as const);
  return { ...(Object.fromEntries(made) as unknown as ShownScores), bucket_ms: scores.bucket_ms };
}

const COLUMNS = ['value', 'forecast', 'lo', 'hi', 'grade', 'alarms'] as const;

/** The shown rows as CSV, times in ISO (UTC). */
export function scoresCsv(series: string, columns: ShownScores, { from, to }: TimeRange): string {
  const name = spreadsheetField(series);
  const rows = columns.timestampMs.flatMap((at, i) => {
    if (at < from || at > to || columns.value[i] === null) return [];
    return [[name, new Date(at).toISOString(), ...COLUMNS.map((column) => columns[column][i] ?? '')].join(',')];
  });
  return `${['series', 'timestamp', ...COLUMNS].join(',')}\n${rows.map((row) => `${row}\n`).join('')}`;
}
