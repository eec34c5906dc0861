import type { MovedRow, MoveSelection } from '../port/incident-port.ts';
import type { HistorySql } from '../sql/history-database.ts';
import { listParts, partsWithin, partTable, type ScorePart } from '../sql/score-parts.ts';
import { IS_ALARM } from '../sql/score-row.ts';

/** Rows that are read before the start, and as many from it on: beyond it the past is shorter. */
const ROWS_MAX = 2_000_000;

/** What each series showed in a stretch of time, and before it. */
export async function readMoved(sql: HistorySql, selection: MoveSelection): Promise<readonly MovedRow[]> {
  const { startMs, endMs, flatGrade, limit } = selection;
  const parts = await listParts(sql);
  const [{ series }] = await sql.query<{ series: number }>('SELECT COUNT(*) AS series FROM history_series');
  const { fromMs, toMs } = boundedRange(selection, parts, series);
  const kept = partsWithin(parts, fromMs, toMs).map((part) => {
    return `SELECT * FROM ${partTable(part)} WHERE time >= $2 AND time < $3 AND grade IS NOT NULL`;
  });
  if (kept.length === 0 || (endMs !== null && endMs < startMs)) return [];
  return sql.query<MovedRow>(
    `SELECT known.name AS series, known.member_of AS "group", moved.grade, moved.past_grade AS "pastGrade",
        moved.past_rows AS "pastRows", moved.flat_rows AS "flatRows", moved.alarm_at AS "alarmAtMs"
      FROM (
        SELECT series, MAX(CASE WHEN time >= $1 THEN grade END) AS grade,
          MAX(CASE WHEN time < $1 THEN grade END) AS past_grade,
          CAST(SUM(CASE WHEN time < $1 THEN 1 ELSE 0 END) AS INT4) AS past_rows,
          CAST(SUM(CASE WHEN time < $1 AND grade < $4 THEN 1 ELSE 0 END) AS INT4) AS flat_rows,
          MIN(CASE WHEN time >= $1 AND ${IS_ALARM} THEN time END) AS alarm_at
        FROM (${kept.join(' UNION ALL ')}) AS kept GROUP BY series
      ) AS moved JOIN history_series AS known ON known.id = moved.series
      WHERE moved.grade IS NOT NULL ORDER BY moved.grade DESC, known.name LIMIT $5`,
    [startMs, fromMs, toMs, flatGrade, limit],
  );
}

/** The range with the past of each series, as long as it holds not too many rows. */
function boundedRange({ startMs, endMs, pastRows }: MoveSelection, parts: readonly ScorePart[], series: number) {
  const part =
    parts.findLast(({ rows, fromMs }) => rows > 0 && fromMs! <= startMs) ?? parts.find(({ rows }) => rows > 0);
  if (part === undefined) return { fromMs: startMs, toMs: startMs };
  const rowMs = Math.max(1, part.toMs! - part.fromMs!) / part.rows;
  const pastMs = Math.min(ROWS_MAX, pastRows * Math.max(1, series)) * rowMs;
  const endMax = startMs + ROWS_MAX * rowMs;
  return { fromMs: Math.floor(startMs - pastMs), toMs: Math.ceil(Math.min((endMs ?? endMax) + 1, endMax + 1)) };
}
