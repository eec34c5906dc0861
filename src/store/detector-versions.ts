import type { Sql } from './database/database.ts';

export interface DetectorVersion {
  readonly version: number;
  readonly savedAtMs: number;
  readonly savedBy: string;
  readonly comment: string | null;
  readonly text: string;
}

/** Versions that are kept to roll back to. */
export const DETECTOR_VERSIONS_MAX = 100;

/** Saved versions, newest first. */
export function listDetectorVersions(sql: Sql): Promise<DetectorVersion[]> {
  return sql.query<DetectorVersion>(
    `SELECT version, saved_at AS "savedAtMs", saved_by AS "savedBy", comment, text FROM detector_versions
      ORDER BY version DESC`,
  );
}

/** Adds the next version; false if another replica added one of this number before. Forgets the oldest. */
export async function addDetectorVersion(sql: Sql, added: DetectorVersion): Promise<boolean> {
  const { version, savedAtMs, savedBy, comment, text } = added;
  const rows = await sql.query(
    `INSERT INTO detector_versions (version, saved_at, saved_by, comment, text) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (version) DO NOTHING RETURNING version`,
    [version, savedAtMs, savedBy, comment, text],
  );
  await sql.query('DELETE FROM detector_versions WHERE version <= $1', [version - DETECTOR_VERSIONS_MAX]);
  return rows.length > 0;
}
