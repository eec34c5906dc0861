import type { Database } from '../database/database.ts';
import type { ClaimedJob, Lease } from './jobs.ts';

interface Claim extends Lease {
  readonly nowMs: number;
  /** Jobs of one owner that this holder runs at once. */
  readonly runningOfOwnerMax?: number;
}

/** Advisory lock of claims: replicas claim one after the other, so that each sees what the others run. */
const CLAIM_LOCK = 7_433_930;

/** The oldest pending job of the owner whose turn it is. */
const NEXT = `SELECT waiting.number FROM
    (SELECT owner, MIN(number) AS number FROM jobs WHERE status = 'pending' GROUP BY owner) AS waiting
  LEFT JOIN
    (SELECT owner, COUNT(*) AS running, SUM(CASE WHEN lease_owner = $1 THEN 1 ELSE 0 END) AS here
      FROM jobs WHERE status = 'running' GROUP BY owner) AS active ON active.owner = waiting.owner
  WHERE COALESCE(active.here, 0) < $2
  ORDER BY COALESCE(active.running, 0),
    COALESCE((SELECT MAX(started_at) FROM jobs WHERE jobs.owner = waiting.owner), 0), waiting.number LIMIT 1`;

/**
 * Claims a pending job under a lease; null when there is none for this holder. Owners take turns: first the one with
 * the fewest running jobs, then the one whose last start is longest ago. The jobs of an owner start in creation order.
 * Concurrent replicas claim different jobs.
 */
export function claimJob(
  database: Database,
  { holder, untilMs, nowMs, runningOfOwnerMax = Number.MAX_SAFE_INTEGER }: Claim,
): Promise<ClaimedJob | null> {
  return database.transaction(async (sql) => {
    if (sql.dialect === 'postgres') await sql.query('SELECT pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
    const [next] = await sql.query<{ number: number }>(NEXT, [holder, runningOfOwnerMax]);
    if (next === undefined) return null;
    const [job] = await sql.query<ClaimedJob>(
      `UPDATE jobs SET status = 'running', attempts = attempts + 1, started_at = $2, lease_owner = $3, lease_until = $4
        WHERE number = $1 AND status = 'pending'
        RETURNING id, task, owner, key_id AS "keyId", hold_id AS "holdId", attempts AS attempt,
          timeout_seconds AS "timeoutSeconds", request, request_id AS "requestId"`,
      [next.number, nowMs, holder, untilMs],
    );
    // Cancelled in between: the next claim finds another.
    return job ?? null;
  });
}
