import type { HistorySql, HistoryWritingSql } from './history-database.ts';
import { SCORE_COLUMNS } from './score-row.ts';

/**
 * Scores are in parts, in the order of their arrival. The newest part is open and takes new rows. A full one is
 * sealed: it is sorted by series, so that one series is read from a few blocks. What is too old is dropped as a
 * whole.
 */
interface ScorePart {
  readonly part: number;
  readonly sealed: boolean;
  readonly rows: number;
  /** Event times of its rows; null in an empty part. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly openedAtMs: number;
  /** Arrival of its newest row. */
  readonly filledAtMs: number | null;
}

export function listParts(sql: HistorySql): Promise<ScorePart[]> {
  return sql.query<ScorePart>(
    `SELECT part, sealed = 1 AS sealed, score_rows AS rows, from_time AS "fromMs", to_time AS "toMs",
      opened_at AS "openedAtMs", filled_at AS "filledAtMs" FROM history_parts ORDER BY part`,
  );
}

/** Parts that may hold rows of the range. */
export function partsWithin(parts: readonly ScorePart[], fromMs: number, toMs: number): ScorePart[] {
  return parts.filter((part) => part.rows > 0 && part.fromMs! < toMs && part.toMs! >= fromMs);
}

export function partTable({ part, sealed }: Pick<ScorePart, 'part' | 'sealed'>): string {
  return sealed ? `history_sorted_${part}` : `history_scores_${part}`;
}

/** The part that takes new rows; it is made where there is none. */
export async function openPart(sql: HistorySql, nowMs: number): Promise<ScorePart> {
  const parts = await listParts(sql);
  const newest = parts.at(-1);
  if (newest !== undefined && !newest.sealed) return newest;
  const part = (newest?.part ?? 0) + 1;
  const opened = { part, sealed: false, rows: 0, fromMs: null, toMs: null, openedAtMs: nowMs, filledAtMs: null };
  const table = partTable(opened);
  const columns = SCORE_COLUMNS.map(({ name, type }) => `${name} ${type}`).join(', ');
  await sql.query(`CREATE TABLE ${table} (series INT4, ${columns})`);
  await sql.query('INSERT INTO history_parts VALUES ($1, 0, 0, NULL, NULL, $2, NULL)', [part, nowMs]);
  return opened;
}

interface FilledRows {
  readonly ids: readonly number[];
  readonly columns: readonly (readonly (number | null)[])[];
  readonly fromMs: number;
  readonly toMs: number;
}

export async function fillPart(
  sql: HistoryWritingSql,
  part: ScorePart,
  filled: FilledRows,
  nowMs: number,
): Promise<void> {
  const { ids, columns, fromMs, toMs } = filled;
  await sql.insert(partTable(part), [
    { name: 'series', type: 'int4', values: ids },
    ...SCORE_COLUMNS.map(({ name, type }, i) => ({ name, type, values: columns[i] })),
  ]);
  await sql.query(
    `UPDATE history_parts SET score_rows = score_rows + $2, filled_at = $5,
      from_time = LEAST(COALESCE(from_time, $3), $3), to_time = GREATEST(COALESCE(to_time, $4), $4) WHERE part = $1`,
    [part.part, ids.length, fromMs, toMs, nowMs],
  );
}

/** No rows are added any more. */
export async function sealPart(sql: HistorySql, part: ScorePart): Promise<void> {
  const [from, to] = [partTable(part), partTable({ ...part, sealed: true })];
  await sql.query(`CREATE TABLE ${to} AS SELECT * FROM ${from} ORDER BY series, time`);
  await sql.query(`DROP TABLE ${from}`);
  await sql.query('UPDATE history_parts SET sealed = 1 WHERE part = $1', [part.part]);
}

export async function dropPart(sql: HistorySql, part: ScorePart): Promise<void> {
  await sql.query(`DROP TABLE ${partTable(part)}`);
  await sql.query('DELETE FROM history_parts WHERE part = $1', [part.part]);
}
