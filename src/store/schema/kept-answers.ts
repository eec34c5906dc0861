import type { Migration } from './migration.ts';

/**
 * Version 9: answers of synchronous requests with an `Idempotency-Key`, and the request that submitted a job; null in
 * jobs of earlier versions.
 */
export const keptAnswers: Migration = ({ integer, strict }) => [
  `CREATE TABLE idempotent_answers (
    owner TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_digest TEXT NOT NULL,
    answer TEXT NOT NULL,
    answered_at ${integer} NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
  ) ${strict}`,
  'CREATE INDEX idempotent_answers_by_time ON idempotent_answers (answered_at)',
  'ALTER TABLE jobs ADD COLUMN request_id TEXT',
];
