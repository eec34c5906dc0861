import type { Migration } from './migration.ts';

/**
 * Version 1. Times are milliseconds (UTC), `…_at` and `…_until`. An owner of fine-tuned models and jobs is one key, or
 * several.
 */
export const firstTables: Migration = ({ integer, bytes, counter, strict }) => [
  // credits: remaining tokens, open holds already deducted; null means unlimited.
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest ${bytes} NOT NULL UNIQUE,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    revoked_at ${integer},
    models TEXT,
    calls_per_minute ${integer},
    calls_at_once ${integer},
    credits ${integer} CHECK (credits >= 0)
  ) ${strict}`,
  // Ledger of a key with credits: balance + open holds + charged minutes = granted.
  `CREATE TABLE credit_grants (
    number ${counter},
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    granted_at ${integer} NOT NULL,
    tokens ${integer} NOT NULL
  ) ${strict}`,
  `CREATE TABLE credit_holds (
    id TEXT PRIMARY KEY,
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    tokens ${integer} NOT NULL CHECK (tokens >= 0),
    held_at ${integer} NOT NULL,
    lease_until ${integer} NOT NULL,
    holder TEXT NOT NULL
  ) ${strict}`,
  `CREATE INDEX credit_holds_by_key ON credit_holds (key_id)`,
  `CREATE INDEX credit_holds_by_lease ON credit_holds (lease_until)`,
  `CREATE INDEX credit_holds_by_holder ON credit_holds (holder)`,
  // calls: admitted; requests and tokens: answered; charged: tokens paid with credits.
  `CREATE TABLE usage_minutes (
    key_id TEXT NOT NULL REFERENCES api_keys (id),
    minute_at ${integer} NOT NULL,
    calls ${integer} NOT NULL DEFAULT 0,
    requests ${integer} NOT NULL DEFAULT 0,
    tokens ${integer} NOT NULL DEFAULT 0,
    charged ${integer} NOT NULL DEFAULT 0,
    PRIMARY KEY (key_id, minute_at)
  ) ${strict}`,
  `CREATE TABLE audit_log (
    number ${counter},
    happened_at ${integer} NOT NULL,
    actor TEXT NOT NULL,
    owner TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT,
    request_id TEXT
  ) ${strict}`,
  `CREATE INDEX audit_log_by_time ON audit_log (happened_at)`,
  // weights: null when they are a file of the data folder.
  `CREATE TABLE finetuned_models (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    created_by TEXT NOT NULL,
    base_model_id TEXT,
    steps ${integer} NOT NULL,
    depth ${integer} NOT NULL,
    loss TEXT NOT NULL,
    model TEXT NOT NULL,
    freq TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes ${integer} NOT NULL,
    weights ${bytes},
    PRIMARY KEY (owner, id)
  ) ${strict}`,
  // number: creation order. lease_owner: the process that runs the job. attempts: number of claims. request: null once
  // it ended.
  `CREATE TABLE jobs (
    number ${counter},
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    owner TEXT NOT NULL,
    key_id TEXT NOT NULL,
    hold_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
    created_at ${integer} NOT NULL,
    started_at ${integer},
    ended_at ${integer},
    lease_until ${integer},
    lease_owner TEXT,
    attempts ${integer} NOT NULL DEFAULT 0,
    timeout_seconds ${integer} NOT NULL,
    request ${bytes},
    request_bytes ${integer} NOT NULL,
    result ${bytes},
    error TEXT,
    expires_at ${integer}
  ) ${strict}`,
  `CREATE INDEX jobs_by_owner ON jobs (owner, number)`,
  `CREATE INDEX jobs_by_expiry ON jobs (expires_at) WHERE expires_at IS NOT NULL`,
  `CREATE INDEX jobs_pending ON jobs (number) WHERE status = 'pending'`,
  `CREATE INDEX jobs_running ON jobs (lease_until) WHERE status = 'running'`,
  `CREATE INDEX jobs_in_flight ON jobs (owner, task, status, request_bytes) WHERE status IN ('pending', 'running')`,
];
