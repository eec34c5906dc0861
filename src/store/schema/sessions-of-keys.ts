import type { Migration } from './migration.ts';

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
