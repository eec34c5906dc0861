import type { Sql } from '../database/database.ts';
import type { ReviewAct } from './event-reviews.ts';

export const MUTES_MAX = 500;
/** Ended mutes that are kept for display: the newest. */
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

type MuteRow = Omit<MuteRecord, 'ended'> & { readonly endedAtMs: number | null; readonly endedBy: string };

const COLUMNS = `id, series_match AS "match", detector_match AS detector, muted_at AS "atMs", muted_by AS "by",
  muted_until AS "untilMs", muted_reason AS reason, ended_at AS "endedAtMs", ended_by AS "endedBy"`;

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
    `SELECT ${COLUMNS} FROM series_mutes WHERE ${HOLDS} AND muted_until = $2 AND muted_reason = $3
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
  const text = `SELECT ${COLUMNS} FROM series_mutes WHERE ${HOLDS} ORDER BY muted_until, id`;
  return (await sql.query<MuteRow>(text, [nowMs])).map(muteOf);
}

/** Mutes that hold no more, the newest first. */
export async function endedMutes(sql: Sql, nowMs: number): Promise<MuteRecord[]> {
  const text = `SELECT ${COLUMNS} FROM series_mutes WHERE NOT (${HOLDS})
    ORDER BY COALESCE(ended_at, muted_until) DESC, id LIMIT ${ENDED_MUTES_KEPT}`;
  return (await sql.query<MuteRow>(text, [nowMs])).map(muteOf);
}

/** Ends a mute that holds. null: there is no such one. */
export async function endMute(sql: Sql, id: string, { atMs, by }: ReviewAct): Promise<MuteRecord | null> {
  const rows = await sql.query<MuteRow>(
    `UPDATE series_mutes SET ended_at = $1, ended_by = $2 WHERE id = $3 AND ${HOLDS} RETURNING ${COLUMNS}`,
    [atMs, by, id],
  );
  return rows.length === 0 ? null : muteOf(rows[0]);
}

function muteOf({ endedAtMs, endedBy, ...mute }: MuteRow): MuteRecord {
  return { ...mute, ended: endedAtMs === null ? null : { atMs: endedAtMs, by: endedBy } };
}
