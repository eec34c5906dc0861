import type { ScoreColumns, ScoreRange, SeriesScores } from '../port/history-port.ts';
import type { HistorySql } from '../sql/history-database.ts';
import { listParts, partsWithin, partTable } from '../sql/score-parts.ts';
import { IS_ALARM, IS_ANOMALY } from '../sql/score-row.ts';

/** Widths of buckets that a person can read, milliseconds. */
const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 7, 28, 364].map((days) => days * 86_400_000),
];

const SUMS = [
  'AVG(value) AS value',
  'MIN(value) AS value_min',
  'MAX(value) AS value_max',
  'AVG(forecast) AS forecast',
  'AVG(lo) AS lo',
  'AVG(hi) AS hi',
  'CASE WHEN MAX(score) >= -MIN(score) THEN MAX(score) ELSE MIN(score) END AS score',
  'MAX(grade) AS grade',
  'MAX(severity) AS severity',
  `CAST(SUM(CASE WHEN ${IS_ALARM} THEN 1 ELSE 0 END) AS INT4) AS alarms`,
  `CAST(SUM(CASE WHEN ${IS_ANOMALY} THEN 1 ELSE 0 END) AS INT4) AS anomalies`,
  'CAST(COUNT(*) AS INT4) AS observations',
];

const PLAIN = [
  'value, value AS value_min, value AS value_max, forecast, lo, hi, score, grade, severity',
  `CASE WHEN ${IS_ALARM} THEN 1 ELSE 0 END AS alarms`,
  `CASE WHEN ${IS_ANOMALY} THEN 1 ELSE 0 END AS anomalies`,
  '1 AS observations',
];

/** Column of the answer by its name in the statement. */
const NAMES: Readonly<Record<keyof ScoreColumns, string>> = {
  timestamp: 'time',
  value: 'value',
  valueMin: 'value_min',
  valueMax: 'value_max',
  forecast: 'forecast',
  lo: 'lo',
  hi: 'hi',
  anomalyScore: 'score',
  grade: 'grade',
  severity: 'severity',
  alarms: 'alarms',
  anomalies: 'anomalies',
  observations: 'observations',
};

/** Scores of one series; a range of more than `pointsMax` rows is downsampled to buckets. null: an unknown series. */
export async function readScores(sql: HistorySql, range: ScoreRange): Promise<SeriesScores | null> {
  const { series, pointsMax, fromMs = null, toMs = null } = range;
  const [known] = await sql.query<{ id: number; detector: string; member_of: string | null }>(
    'SELECT id, detector, member_of FROM history_series WHERE name = $1 AND time IS NOT NULL',
    [series],
  );
  if (known === undefined) return null;
  const [first, end] = [fromMs ?? 0, toMs ?? Number.MAX_SAFE_INTEGER];
  const parts = partsWithin(await listParts(sql), first, end);
  const kept = parts.map((part) => {
    return `SELECT * FROM ${partTable(part)} WHERE series = $1 AND time >= $2 AND time < $3`;
  });
  const source = `(${kept.join(' UNION ALL ')}) AS kept`;
  const values = [known.id, first, end];
  const place = { series, detector: known.detector, group: known.member_of };
  const none = { fromMs: fromMs ?? 0, toMs: toMs ?? 0 };
  if (parts.length === 0) return { ...place, ...none, bucketMs: null, columns: columnsOf([]) };
  const [{ rows, oldest, newest }] = await sql.query<{ rows: number; oldest: number | null; newest: number | null }>(
    `SELECT COUNT(*) AS rows, MIN(time) AS oldest, MAX(time) AS newest FROM ${source}`,
    values,
  );
  const span = { fromMs: fromMs ?? oldest ?? none.fromMs, toMs: toMs ?? (newest === null ? none.toMs : newest + 1) };
  const bucketMs = rows <= pointsMax ? null : widthFor(oldest!, newest!, pointsMax);
  const columns = columnsOf(
    await sql.query(statement(source, bucketMs), bucketMs === null ? values : [...values, bucketMs]),
  );
  return { ...place, ...span, bucketMs, columns };
}

/** The first width of which there are at most as many buckets as points. */
function widthFor(oldest: number, newest: number, pointsMax: number): number {
  const fits = (width: number) => Math.floor(newest / width) - Math.floor(oldest / width) < pointsMax;
  // Two buckets of any width may hold the shortest range.
  return WIDTHS.find(fits) ?? newest + 1;
}

function statement(source: string, bucketMs: number | null): string {
  if (bucketMs === null) return `SELECT time, ${PLAIN.join(', ')} FROM ${source} ORDER BY time`;
  return `SELECT time - time % $4 AS time, ${SUMS.join(', ')} FROM ${source} GROUP BY time - time % $4 ORDER BY 1`;
}

function columnsOf(rows: readonly object[]): ScoreColumns {
  const named = rows as readonly Readonly<Record<string, number | null>>[];
  const columns = Object.entries(NAMES).map(([column, name]) => {
    return [column, Float64Array.from(named, (row) => row[name] ?? Number.NaN)];
  });
  return Object.fromEntries(columns) as ScoreColumns;
}
