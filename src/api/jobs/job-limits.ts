import type { InFlightLimits } from '../../store/jobs/jobs.ts';

const DAY_MS = 86_400_000;

export const JOB_LIMITS = {
  /** Pending and running jobs of one owner. Further submissions are refused with 429. */
  inFlight: { jobsMax: 1_000, requestBytesMax: 1024 * 1024 * 1024 } as InFlightLimits,
  /** Lifetime of a lease. When it expires, another process runs the job again. */
  leaseMs: 30_000,
  /** Interval of lease renewals; a renewal also reports cancellation by other processes. */
  heartbeatMs: 3_000,
  /** Interval at which an idle process polls for pending jobs and expired leases. */
  pollMs: 1_000,
  /** Attempts of a job whose processes died. After the last the job has failed. */
  attemptsMax: 5,
  /** Retention of ended jobs and their results, within the limits of JOB_RETENTION. */
  keptMs: 7 * DAY_MS,
};
export type JobLimits = Readonly<typeof JOB_LIMITS>;
