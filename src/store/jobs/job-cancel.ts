import type { Sql } from '../database/database.ts';
import { type AdmittedCall, endCall } from '../ledger/credits.ts';
import { ENDED, IN_FLIGHT, type JobEnd } from './jobs.ts';

/**
 * Cancels a pending or running job of an owner; null when there is none. Its runner learns of it when it renews the
 * lease.
 */
export async function cancelJob(
  sql: Sql,
  { owner, id }: { readonly owner: string; readonly id: string },
  { endedAtMs, expiresAtMs }: Pick<JobEnd, 'endedAtMs' | 'expiresAtMs'>,
): Promise<AdmittedCall | null> {
  const rows = await sql.query<AdmittedCall>(
    `UPDATE jobs SET status = 'cancelled', ended_at = $3, expires_at = $4, ${ENDED}
      WHERE id = $1 AND owner = $2 AND ${IN_FLIGHT} RETURNING key_id AS "keyId", hold_id AS "holdId"`,
    [id, owner, endedAtMs, expiresAtMs],
  );
  return rows[0] ?? null;
}

/** Cancels all pending and running jobs of a key, with a reason, and releases their calls. */
export async function cancelJobsOfKey(
  sql: Sql,
  keyId: string,
  { error, endedAtMs, expiresAtMs }: Pick<JobEnd, 'error' | 'endedAtMs' | 'expiresAtMs'>,
): Promise<void> {
  const calls = await sql.query<AdmittedCall>(
    `UPDATE jobs SET status = 'cancelled', error = $2, ended_at = $3, expires_at = $4, ${ENDED}
      WHERE key_id = $1 AND ${IN_FLIGHT} RETURNING key_id AS "keyId", hold_id AS "holdId"`,
    [keyId, error, endedAtMs, expiresAtMs],
  );
  for (const call of calls) await endCall(sql, call, { tokens: null, nowMs: endedAtMs });
}
