import type { Sql } from '../database/database.ts';
import type { AdmittedCall } from '../ledger/credits.ts';
import type { JobStatus } from './job-status.ts';

export interface NewJob {
  readonly id: string;
  readonly task: string;
  readonly owner: string;
  readonly keyId: string;
  readonly holdId: string | null;
  readonly createdAtMs: number;
  readonly timeoutSeconds: number;
  readonly request: Uint8Array;
  readonly idempotency?: Idempotency | null;
  readonly requestId?: string | null;
}

/** Distinguishes a repeated submission from a new one. */
export interface Idempotency {
  /** The `Idempotency-Key` of the client; unique for an owner while its job is kept. */
  readonly key: string;
  readonly digest: string;
}

/** Limits of the pending and running jobs of one owner. */
export interface InFlightLimits {
  readonly jobsMax: number;
  /** Bytes of their requests. A single job is accepted regardless of its size. */
  readonly requestBytesMax: number;
}

type SubmittedJob =
  | { readonly kind: 'submitted' }
  /** A job was submitted under this idempotency key before; `same` when its request was the same. */
  | { readonly kind: 'known'; readonly id: string; readonly same: boolean }
  | { readonly kind: 'too-many'; readonly inFlight: number };

export interface JobRecord {
  readonly number: number;
  readonly id: string;
  readonly task: string;
  readonly status: JobStatus;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly error: string | null;
}

/** Progress of fine-tuning in steps, of a what-if in series. */
export interface JobProgress {
  readonly step: number;
  readonly steps: number;
}

export interface AnsweredJob extends JobRecord {
  /** As of the last lease renewal; null if the job has none, or does not run. */
  readonly progress: JobProgress | null;
  /** Set when the job succeeded. */
  readonly result: Uint8Array | null;
}

/** A claimed job. A later claim has a higher `attempt`. */
export interface ClaimedJob extends Omit<NewJob, 'createdAtMs' | 'idempotency'> {
  readonly attempt: number;
  /** Id of the request that submitted it; null for jobs of earlier releases. */
  readonly requestId: string | null;
}

export interface Lease {
  readonly holder: string;
  readonly untilMs: number;
}

export interface JobEnd {
  readonly status: 'succeeded' | 'failed';
  readonly result: Uint8Array | null;
  readonly error: string | null;
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}

/** Advisory lock class of job owners; class 1 belongs to models. */
const OWNER_LOCK = 2;

const RECORD = `number, id, task, status, created_at AS "createdAtMs", started_at AS "startedAtMs",
  ended_at AS "endedAtMs", error`;
export const IN_FLIGHT = `status IN ('pending', 'running')`;
const LEFT = `lease_owner = NULL, lease_until = NULL, step = NULL, steps = NULL`;
export const ENDED = `request = NULL, ${LEFT}`;
const HELD = `id = $1 AND attempts = $2 AND lease_owner = $3 AND status = 'running'`;

/**
 * Adds a pending job, unless its owner is at a limit. Safe under concurrency.
 * @param sql a transaction
 */
export async function submitJob(sql: Sql, job: NewJob, limits: InFlightLimits): Promise<SubmittedJob> {
  const { id, task, owner, keyId, holdId, createdAtMs, timeoutSeconds, request } = job;
  const { idempotency = null, requestId = null } = job;
  if (sql.dialect === 'postgres') {
    await sql.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [OWNER_LOCK, owner]);
  }
  const known = await findSubmission(sql, owner, idempotency);
  if (known !== null) return known;
  const [{ jobs, bytes }] = await sql.query<{ jobs: number; bytes: number }>(
    `SELECT COUNT(*) AS jobs, COALESCE(SUM(request_bytes), 0) AS bytes FROM jobs WHERE owner = $1 AND ${IN_FLIGHT}`,
    [owner],
  );
  const crowded = jobs > 0 && bytes + request.length > limits.requestBytesMax;
  if (jobs >= limits.jobsMax || crowded) return { kind: 'too-many', inFlight: jobs };
  await sql.query(
    `INSERT INTO jobs (id, task, owner, key_id, hold_id, status, created_at, timeout_seconds, request, request_bytes,
        idempotency_key, request_digest, request_id)
        VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[id, task, owner, keyId, holdId, createdAtMs, timeoutSeconds, request, request.length],
      ...[idempotency?.key ?? null, idempotency?.digest ?? null, requestId],
    ],
  );
  return { kind: 'submitted' };
}

/** The job that was submitted under this idempotency key; null for a new key, or none. */
export async function findSubmission(
  sql: Sql,
  owner: string,
  idempotency: Idempotency | null,
): Promise<Extract<SubmittedJob, { readonly kind: 'known' }> | null> {
  if (idempotency === null) return null;
  const [job] = await sql.query<{ id: string; digest: string }>(
    'SELECT id, request_digest AS digest FROM jobs WHERE owner = $1 AND idempotency_key = $2',
    [owner, idempotency.key],
  );
  return job === undefined ? null : { kind: 'known', id: job.id, same: job.digest === idempotency.digest };
}

/**
 * Renews a lease and stores the progress. Returns false when the lease was lost: the job was cancelled or claimed by
 * another process.
 */
export async function extendLease(
  sql: Sql,
  { id, attempt }: ClaimedJob,
  { holder, untilMs, progress }: Lease & { readonly progress: JobProgress | null },
): Promise<boolean> {
  const rows = await sql.query(`UPDATE jobs SET lease_until = $4, step = $5, steps = $6 WHERE ${HELD} RETURNING id`, [
    id,
    attempt,
    holder,
    untilMs,
    progress?.step ?? null,
    progress?.steps ?? null,
  ]);
  return rows.length > 0;
}

/** Ends a job under its lease. Returns false, without a change, when the lease was lost. */
export async function endJob(
  sql: Sql,
  { id, attempt }: ClaimedJob,
  { holder, status, result, error, endedAtMs, expiresAtMs }: JobEnd & Pick<Lease, 'holder'>,
): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE jobs SET status = $4, result = $5, error = $6, ended_at = $7, expires_at = $8, result_bytes = $9, ${ENDED}
      WHERE ${HELD} RETURNING id`,
    [id, attempt, holder, status, result, error, endedAtMs, expiresAtMs, result?.length ?? null],
  );
  return rows.length > 0;
}

/** Returns a job to the queue, at its old place. */
export async function releaseJob(sql: Sql, { id, attempt }: ClaimedJob, holder: string): Promise<void> {
  await sql.query(`UPDATE jobs SET status = 'pending', ${LEFT} WHERE ${HELD}`, [id, attempt, holder]);
}

interface LeaseExpiry {
  readonly nowMs: number;
  /** Attempts of a job; after the last it has failed. */
  readonly attemptsMax: number;
  /** The error of a job without attempts left. */
  readonly error: string;
  readonly expiresAtMs: number;
}

/** Ends expired leases: their jobs are pending again, or have failed; the calls of those are to be released. */
export async function expireLeases(sql: Sql, { nowMs, attemptsMax, error, expiresAtMs }: LeaseExpiry) {
  const failed = await sql.query<AdmittedCall>(
    `UPDATE jobs SET status = 'failed', error = $1, ended_at = $2, expires_at = $3, ${ENDED}
      WHERE status = 'running' AND lease_until <= $2 AND attempts >= $4
      RETURNING key_id AS "keyId", hold_id AS "holdId"`,
    [error, nowMs, expiresAtMs, attemptsMax],
  );
  const rows = await sql.query<{ id: string }>(
    `UPDATE jobs SET status = 'pending', ${LEFT} WHERE status = 'running' AND lease_until <= $1 RETURNING id`,
    [nowMs],
  );
  return { waiting: rows.map(({ id }) => id), failed };
}

/** Returns null when this owner has no such job, or it has expired. */
export async function findJob(
  sql: Sql,
  { owner, id }: { readonly owner: string; readonly id: string },
  nowMs: number,
): Promise<AnsweredJob | null> {
  const rows = await sql.query<AnsweredJob & { readonly step: number | null; readonly steps: number }>(
    `SELECT ${RECORD}, result, step, steps FROM jobs
      WHERE id = $1 AND owner = $2 AND (expires_at IS NULL OR expires_at > $3)`,
    [id, owner, nowMs],
  );
  if (rows.length === 0) return null;
  const [{ step, steps, ...job }] = rows;
  return { ...job, progress: step === null ? null : { step, steps } };
}

export interface JobPage {
  /** Newest first. */
  readonly jobs: readonly JobRecord[];
  /** `before` of the next page; null on the last. */
  readonly next: number | null;
}

export interface JobListing {
  /** At least one, each once. */
  readonly statuses: readonly JobStatus[];
  readonly before: number;
  readonly size: number;
  readonly nowMs: number;
}

export async function listJobs(
  sql: Sql,
  owner: string,
  { statuses, before, size, nowMs }: JobListing,
): Promise<JobPage> {
  // By status, so that a few jobs in flight are found among many that ended.
  const ofStatus = statuses.map(
    (_, i) =>
      `SELECT * FROM (SELECT ${RECORD} FROM jobs WHERE owner = $1 AND status = $${i + 5} AND number < $2
        AND (expires_at IS NULL OR expires_at > $3) ORDER BY number DESC LIMIT $4) AS s${i}`,
  );
  const all = `${ofStatus.join(' UNION ALL ')} ORDER BY number DESC LIMIT $4`;
  const rows = await sql.query<JobRecord>(all, [owner, before, nowMs, size + 1, ...statuses]);
  const jobs = rows.slice(0, size);
  return { jobs, next: rows.length > size ? jobs[size - 1].number : null };
}

export interface InFlightCount {
  readonly task: string;
  readonly status: 'pending' | 'running';
  readonly jobs: number;
}

/** Pending and running jobs of an owner by task and status, without zeros. */
export function countInFlight(sql: Sql, owner: string): Promise<InFlightCount[]> {
  return sql.query(
    `SELECT task, status, COUNT(*) AS jobs FROM jobs WHERE owner = $1 AND ${IN_FLIGHT} GROUP BY task, status`,
    [owner],
  );
}

export async function expireJobs(sql: Sql, nowMs: number): Promise<number> {
  return (await sql.query('DELETE FROM jobs WHERE expires_at <= $1 RETURNING number', [nowMs])).length;
}

/** Pending and running jobs, and when the oldest pending one was submitted; null when none waits. */
export async function jobBacklog(sql: Sql) {
  const rows = await sql.query<{ status: JobStatus; jobs: number; oldest: number }>(
    `SELECT status, COUNT(*) AS jobs, MIN(created_at) AS oldest FROM jobs WHERE ${IN_FLIGHT} GROUP BY status`,
  );
  const of = (status: JobStatus) => rows.find((row) => row.status === status);
  const pending = of('pending');
  return { pending: pending?.jobs ?? 0, running: of('running')?.jobs ?? 0, oldestPendingAtMs: pending?.oldest ?? null };
}
