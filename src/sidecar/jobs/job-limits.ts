import type { InFlightLimits } from '../../store/jobs.ts';

export interface JobLimits {
  /** Jobs of one owner that wait or run. Beyond it the next is refused with 429. */
  readonly inFlight: InFlightLimits;
  /** How long a job is left to a process that fell silent; then another one runs it again. */
  readonly leaseMs: number;
  /** How often a process says that it is there, and hears of jobs that were cancelled elsewhere. */
  readonly heartbeatMs: number;
  /** How often an idle process looks for jobs that others took, or left behind. */
  readonly pollMs: number;
  /** How often a job is begun whose processes end under it; then it has failed. */
  readonly attemptsMax: number;
  /** How long a job and its result can be fetched after it ended. */
  readonly keptMs: number;
}

export const JOB_LIMITS: JobLimits = {
  inFlight: { jobsMax: 1_000, requestBytesMax: 1024 * 1024 * 1024 },
  leaseMs: 30_000,
  heartbeatMs: 3_000,
  pollMs: 1_000,
  attemptsMax: 5,
  keptMs: 3_600_000,
};
