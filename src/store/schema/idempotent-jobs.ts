import type { Migration } from './migration.ts';

/** Version 6: the `Idempotency-Key` of a submission, and the digest of its request; null without one. */
export const idempotentJobs: Migration = () => [
  'ALTER TABLE jobs ADD COLUMN idempotency_key TEXT',
  'ALTER TABLE jobs ADD COLUMN request_digest TEXT',
  `CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL`,
];
