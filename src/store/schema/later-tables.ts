import type { Migration } from './migration.ts';

/** Version 2: progress of fine-tuning; null when none runs. */
export const jobProgress: Migration = ({ integer }) => [
  `ALTER TABLE jobs ADD COLUMN step ${integer}`,
  `ALTER TABLE jobs ADD COLUMN steps ${integer}`,
];

/** Version 3: an index to find expired minutes. */
export const usageByTime: Migration = () => ['CREATE INDEX usage_minutes_by_time ON usage_minutes (minute_at)'];

/** Version 4: the name that the client used for the base model; null: its own name. */
export const namedModels: Migration = () => ['ALTER TABLE finetuned_models ADD COLUMN named TEXT'];

/** Version 5: indexes to find the owner whose turn it is, and its oldest pending job. */
export const fairJobs: Migration = () => [
  `CREATE INDEX jobs_pending_by_owner ON jobs (owner, number) WHERE status = 'pending'`,
  'CREATE INDEX jobs_by_start ON jobs (owner, started_at)',
];

/** Version 6: the `Idempotency-Key` of a submission, and the digest of its request; null without one. */
export const idempotentJobs: Migration = () => [
  'ALTER TABLE jobs ADD COLUMN idempotency_key TEXT',
  'ALTER TABLE jobs ADD COLUMN request_digest TEXT',
  `CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (owner, idempotency_key) WHERE idempotency_key IS NOT NULL`,
];

/**
 * Version 7: the role of a key, and whether it is the bootstrap key: generated at the first start, or configured. Keys
 * of earlier versions did what an operator does.
 */
export const keyRoles: Migration = ({ integer }) => [
  `ALTER TABLE api_keys ADD COLUMN role TEXT NOT NULL DEFAULT 'operator'
    CHECK (role IN ('viewer', 'operator', 'admin'))`,
  `ALTER TABLE api_keys ADD COLUMN bootstrap ${integer} NOT NULL DEFAULT 0`,
  `UPDATE api_keys SET bootstrap = 1 WHERE name IN ('first key', 'TIDEWATCH_API_KEY')`,
];

/** Reviews of events by people, and the letters that were sent again. An event outlives its history here. */
export const eventReviews: Migration = ({ integer, strict }) => [
  `CREATE TABLE event_reviews (
    event_id TEXT PRIMARY KEY,
    started_at ${integer} NOT NULL,
    record TEXT NOT NULL,
    acknowledged_at ${integer},
    acknowledged_by TEXT,
    acknowledged_note TEXT,
    muted_at ${integer},
    muted_by TEXT,
    muted_until ${integer},
    muted_reason TEXT,
    labelled_at ${integer},
    labelled_by TEXT,
    label ${integer},
    label_note TEXT
  ) ${strict}`,
  'CREATE INDEX event_reviews_by_start ON event_reviews (started_at)',
  `CREATE TABLE redriven_letters (
    partition ${integer} NOT NULL,
    letter_offset ${integer} NOT NULL,
    redriven_at ${integer} NOT NULL,
    redriven_by TEXT NOT NULL,
    PRIMARY KEY (partition, letter_offset)
  ) ${strict}`,
];

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

/** Version 10: sessions of browsers. Of a session only the digest of its secret is stored, as of a key. */
export const consoleSessions: Migration = ({ integer, bytes, strict }) => [
  `CREATE TABLE console_sessions (
    digest ${bytes} PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    begun_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  ) ${strict}`,
  'CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at)',
];

/** Detectors files that were saved over HTTP, each in whole. */
export const savedDetectors: Migration = ({ integer, strict }) => [
  `CREATE TABLE detector_versions (
    version ${integer} PRIMARY KEY,
    saved_at ${integer} NOT NULL,
    saved_by TEXT NOT NULL,
    comment TEXT,
    text TEXT NOT NULL
  ) ${strict}`,
];

/** Version 12: bytes of results, which are bounded by owner, and an index to list jobs by status. */
export const keptResults: Migration = ({ integer }) => [
  `ALTER TABLE jobs ADD COLUMN result_bytes ${integer}`,
  'UPDATE jobs SET result_bytes = LENGTH(result) WHERE result IS NOT NULL',
  'CREATE INDEX jobs_with_result ON jobs (owner, result_bytes) WHERE result_bytes IS NOT NULL',
  'CREATE INDEX jobs_by_status ON jobs (owner, status, number)',
];

/** Version 13: reviews of incidents. */
export const incidentReviews: Migration = ({ integer, strict }) => [
  `CREATE TABLE incident_reviews (
    incident_id TEXT PRIMARY KEY,
    acknowledged_at ${integer},
    acknowledged_by TEXT,
    acknowledged_note TEXT,
    muted_at ${integer},
    muted_by TEXT,
    muted_until ${integer},
    muted_reason TEXT
  ) ${strict}`,
  `CREATE TABLE incident_verdicts (
    incident_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    subject TEXT NOT NULL,
    given_at ${integer} NOT NULL,
    given_by TEXT NOT NULL,
    note TEXT,
    PRIMARY KEY (incident_id, verdict, subject)
  ) ${strict}`,
  'CREATE INDEX incident_verdicts_by_subject ON incident_verdicts (verdict, subject)',
];

/** Version 14: series and detectors that people have muted. */
export const seriesMutes: Migration = ({ integer, strict }) => [
  `CREATE TABLE series_mutes (
    id TEXT PRIMARY KEY,
    series_match TEXT,
    detector_match TEXT,
    muted_at ${integer} NOT NULL,
    muted_by TEXT NOT NULL,
    muted_until ${integer} NOT NULL,
    muted_reason TEXT NOT NULL,
    ended_at ${integer},
    ended_by TEXT
  ) ${strict}`,
  'CREATE INDEX series_mutes_by_end ON series_mutes (muted_until)',
];

/** Version 15: what receivers of alerts were sent. */
export const sentAlerts: Migration = ({ integer, counter, strict }) => [
  `CREATE TABLE sent_alerts (
    number ${counter},
    sent_at ${integer} NOT NULL,
    notification_id TEXT NOT NULL,
    receiver TEXT NOT NULL,
    route TEXT NOT NULL,
    type TEXT NOT NULL,
    about TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    escalated_after ${integer},
    outcome TEXT NOT NULL,
    detail TEXT
  ) ${strict}`,
  'CREATE INDEX sent_alerts_by_subject ON sent_alerts (subject_id)',
];
