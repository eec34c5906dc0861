import type { Database } from '../database/database.ts';
import { ROWS_AT_ONCE, untilDone } from '../database/in-batches.ts';

const HOUR_MS = 3_600_000;

/** Ended jobs that are kept of one owner, in addition to those that ended within the last hour. */
const JOB_RETENTION = {
  /** Bytes of results, compressed. Beyond them the oldest are removed; their jobs stay. */
  resultBytesMax: 1_024 ** 3,
  /** Jobs. Beyond them the oldest are forgotten. */
  jobsMax: 100_000,
};
type JobRetention = Readonly<typeof JOB_RETENTION>;

/**
 * Holds the ended jobs of every owner to the retention. Returns the number of jobs and results that were removed. Safe
 * under concurrency.
 */
export async function pruneJobs(
  database: Database,
  nowMs: number,
  { resultBytesMax, jobsMax }: JobRetention = JOB_RETENTION,
): Promise<number> {
  const endedBefore = nowMs - HOUR_MS;
  const crowded = await database.query<{ owner: string }>(
    `SELECT owner FROM jobs GROUP BY owner HAVING COUNT(*) > $1`,
    [jobsMax],
  );
  const heavy = await database.query<{ owner: string }>(
    `SELECT owner FROM jobs WHERE result_bytes IS NOT NULL GROUP BY owner HAVING SUM(result_bytes) > $1`,
    [resultBytesMax],
  );
  let removed = 0;
  for (const { owner } of crowded) removed += await forgetJobs(database, { owner, endedBefore, jobsMax });
  for (const { owner } of heavy) removed += await dropResults(database, { owner, endedBefore, resultBytesMax });
  return removed;
}

interface OwnJobs {
  readonly owner: string;
  readonly endedBefore: number;
}

function forgetJobs(database: Database, { owner, endedBefore, jobsMax }: OwnJobs & Pick<JobRetention, 'jobsMax'>) {
  return untilDone(async () => {
    const rows = await database.query(
      `DELETE FROM jobs WHERE number IN
        (SELECT number FROM jobs WHERE owner = $1 AND ended_at IS NOT NULL AND number <= COALESCE(
          (SELECT number FROM jobs WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $3), 0)
         AND ended_at < $2 ORDER BY number LIMIT $4) RETURNING number`,
      [owner, endedBefore, jobsMax, ROWS_AT_ONCE],
    );
    return rows.length;
  });
}

function dropResults(
  database: Database,
  { owner, endedBefore, resultBytesMax }: OwnJobs & Pick<JobRetention, 'resultBytesMax'>,
) {
  const text = `The result is no longer kept: the results of this owner had more than ${resultBytesMax} bytes together`;
  return untilDone(async () => {
    const rows = await database.query(
      `UPDATE jobs SET result = NULL, result_bytes = NULL, error = $5 WHERE number IN
        (SELECT number FROM
          (SELECT number, ended_at, SUM(result_bytes) OVER (ORDER BY number DESC) AS up_to FROM jobs
            WHERE owner = $1 AND result_bytes IS NOT NULL) AS kept
         WHERE up_to > $3 AND ended_at < $2 LIMIT $4) RETURNING number`,
      [owner, endedBefore, resultBytesMax, ROWS_AT_ONCE, text],
    );
    return rows.length;
  });
}
