import type { MovedRow, MoveSelection } from '../port/incident-port.ts';
import type { HistorySql } from '../sql/history-database.ts';
import { listParts, partsWithin, partTable, type ScorePart } from '../sql/score-parts.ts';
import { IS_ALARM } from '../sql/score-row.ts';

/** Rows that are read before the start, and as many from it on: beyond it the past is shorter. */
const ROWS_MAX = 2_000_000;

/** What each series showed in a stretch of time, and before it. */
export async function readMoved(sql: HistorySql, selection: MoveSelection): Promise<readonly MovedRow[]> {
  const { startMs, endMs, usualQuantile, limit } = selection;
  const parts = await listParts(sql);
  const [{ series }] = await sql.query<{ series: number }>('SELECT COUNT(*) AS series FROM history_series');
  const { fromMs, toMs } = boundedRange(selection, parts, series);
  const kept = partsWithin(parts, fromMs, toMs).map((part) => {
    return `SELECT * FROM ${partTable(part)} WHERE time >= $2 AND time < $3 AND grade IS NOT NULL`;
  });
  if (kept.length === 0 || (endMs !== null && endMs < startMs)) return [];
  return sql.query<MovedRow>(
    `SELECT known.name AS series, known.member_of AS "group", moved.grade, moved.usual_grade AS "usualGrade",
        moved.alarm_at AS "alarmAtMs"
      FROM (
        SELECT series, MAX(CASE WHEN time >= $1 THEN grade END) AS grade,
          QUANTILE_DISC(grade, $4) FILTER (WHERE time < $1) AS usual_grade,
          MIN(CASE WHEN time >= $1 AND ${IS_ALARM} THEN time END) AS alarm_at
        FROM (${kept.join(' UNION ALL ')}) AS kept GROUP BY series
      ) AS moved JOIN history_series AS known ON known.id = moved.series
      WHERE moved.grade IS NOT NULL ORDER BY moved.grade DESC, known.name LIMIT $5`,
    [startMs, fromMs, toMs, usualQuantile, limit],
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
