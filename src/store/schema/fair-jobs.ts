import type { Migration } from './migration.ts';

/** Version 5: indexes to find the owner whose turn it is, and its oldest pending job. */
export const fairJobs: Migration = () => [
  `CREATE INDEX jobs_pending_by_owner ON jobs (owner, number) WHERE status = 'pending'`,
  'CREATE INDEX jobs_by_start ON jobs (owner, started_at)',
];
