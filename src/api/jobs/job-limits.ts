import type { InFlightLimits } from '../../store/jobs/jobs.ts';

const DAY_MS = 86_400_000;

export interface JobLimits {
  /** Pending and running jobs of one owner. Further submissions are refused with 429. */
  readonly inFlight: InFlightLimits;
  /** Lifetime of a lease. When it expires, another process runs the job again. */
  readonly leaseMs: number;
  /** Interval of lease renewals; a renewal also reports cancellation by other processes. */
  readonly heartbeatMs: number;
  /** Interval at which an idle process polls for pending jobs and expired leases. */
  readonly pollMs: number;
  /** Attempts of a job whose processes died. After the last the job has failed. */
  readonly attemptsMax: number;
  /** Retention of ended jobs and their results, within the limits of JOB_RETENTION. */
  readonly keptMs: number;
}

export const JOB_LIMITS: JobLimits = {
  inFlight: { jobsMax: 1_000, requestBytesMax: 1024 * 1024 * 1024 },
  leaseMs: 30_000,
  heartbeatMs: 3_000,
  pollMs: 1_000,
  attemptsMax: 5,
  keptMs: 7 * DAY_MS,
};
