/** pending -> running -> succeeded | failed; cancelled from either; back to pending when the lease expired. */
export const JOB_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
