import type { Sql } from './database/database.ts';
import type { ReviewAct } from './event-reviews.ts';

/** Mutes that hold at once. */
export const MUTES_MAX = 500;
/** Mutes that have ended and are kept to be looked at: the newest. */
export const ENDED_MUTES_KEPT = 1_000;

/** Series, detectors or both that somebody has muted until a time. */
export interface MuteRecord extends ReviewAct {
  readonly id: string;
  /** A glob over ids of series, or matchers of labels; null: all series. */
  readonly match: string | null;
  /** A glob over names of detectors; null: all of them. */
  readonly detector: string | null;
  readonly untilMs: number;
  readonly reason: string;
  /** Who ended it before its time; null: nobody. */
  readonly ended: ReviewAct | null;
}

/** Advisory lock of those who add a mute: of equal ones at the same time one is kept, and no more hold than may. */
const MUTES_LOCK = 7_433_932;

interface MuteRow {
  readonly id: string;
  readonly series_match: string | null;
  readonly detector_match: string | null;
  readonly muted_at: number;
  readonly muted_by: string;
  readonly muted_until: number;
  readonly muted_reason: string;
  readonly ended_at: number | null;
  readonly ended_by: string;
}

const HOLDS = 'ended_at IS NULL AND muted_until > $1';

/**
 * Keeps a mute and returns it. The same one that holds already is returned in its place; null: as many hold as may. Of
 * those that have ended the oldest are forgotten.
 * @param sql a transaction
 */
export async function addMute(sql: Sql, mute: Omit<MuteRecord, 'ended'>): Promise<MuteRecord | null> {
  const { id, match, detector, atMs, by, untilMs, reason } = mute;
  if (sql.dialect === 'postgres') await sql.query('SELECT pg_advisory_xact_lock($1)', [MUTES_LOCK]);
  const [same] = await sql.query<MuteRow>(
    `SELECT * FROM series_mutes WHERE ${HOLDS} AND muted_until = $2 AND muted_reason = $3
      AND series_match IS NOT DISTINCT FROM $4 AND detector_match IS NOT DISTINCT FROM $5 LIMIT 1`,
    [atMs, untilMs, reason, match, detector],
  );
  if (same !== undefined) return muteOf(same);
  const [{ holding }] = await sql.query<{ holding: number }>(
    `SELECT COUNT(*) AS holding FROM series_mutes WHERE ${HOLDS}`,
    [atMs],
  );
  if (holding >= MUTES_MAX) return null;
  await sql.query(
    `DELETE FROM series_mutes WHERE id IN (SELECT id FROM series_mutes WHERE NOT (${HOLDS})
      ORDER BY muted_until DESC, id LIMIT 1000 OFFSET ${ENDED_MUTES_KEPT})`,
    [atMs],
  );
  await sql.query(
    `INSERT INTO series_mutes (id, series_match, detector_match, muted_at, muted_by, muted_until, muted_reason)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, match, detector, atMs, by, untilMs, reason],
  );
  return { ...mute, ended: null };
}

/** Mutes that hold, the next end first. */
export async function holdingMutes(sql: Sql, nowMs: number): Promise<MuteRecord[]> {
  const order = 'ORDER BY muted_until, id';
  return (await sql.query<MuteRow>(`SELECT * FROM series_mutes WHERE ${HOLDS} ${order}`, [nowMs])).map(muteOf);
}

/** Mutes that hold no more, the newest first. */
export async function endedMutes(sql: Sql, nowMs: number): Promise<MuteRecord[]> {
  const order = `ORDER BY COALESCE(ended_at, muted_until) DESC, id LIMIT ${ENDED_MUTES_KEPT}`;
  return (await sql.query<MuteRow>(`SELECT * FROM series_mutes WHERE NOT (${HOLDS}) ${order}`, [nowMs])).map(muteOf);
}

/** Ends a mute that holds. null: there is no such one. */
export async function endMute(sql: Sql, id: string, { atMs, by }: ReviewAct): Promise<MuteRecord | null> {
  const rows = await sql.query<MuteRow>(
    `UPDATE series_mutes SET ended_at = $1, ended_by = $2 WHERE id = $3 AND ${HOLDS} RETURNING *`,
    [atMs, by, id],
  );
  return rows.length === 0 ? null : muteOf(rows[0]);
}

function muteOf(row: MuteRow): MuteRecord {
  return {
    id: row.id,
    match: row.series_match,
    detector: row.detector_match,
    atMs: row.muted_at,
    by: row.muted_by,
    untilMs: row.muted_until,
    reason: row.muted_reason,
    ended: row.ended_at === null ? null : { atMs: row.ended_at, by: row.ended_by },
  };
}
