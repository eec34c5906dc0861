import type { Sql } from './database/database.ts';
import type { JobStatus } from './job-status.ts';
import { IN_FLIGHT } from './jobs.ts';

interface JobBacklog {
  readonly pending: number;
  readonly running: number;
  /** Submission time of the oldest pending job; null when none waits. */
  readonly oldestPendingAtMs: number | null;
}

export async function jobBacklog(sql: Sql): Promise<JobBacklog> {
  const rows = await sql.query<{ status: JobStatus; jobs: number; oldest: number }>(
    `SELECT status, COUNT(*) AS jobs, MIN(created_at) AS oldest FROM jobs WHERE ${IN_FLIGHT} GROUP BY status`,
  );
  const of = (status: JobStatus) => rows.find((row) => row.status === status);
  const pending = of('pending');
  return { pending: pending?.jobs ?? 0, running: of('running')?.jobs ?? 0, oldestPendingAtMs: pending?.oldest ?? null };
}
