import type { Sql } from './database.ts';
import { digestOf } from './key-secret.ts';

/** A session ends so long after its last request. */
export const SESSION_IDLE_MS = 7 * 86_400_000;
/** A session that is used is prolonged this often, not with every request. */
const PROLONG_MS = 3_600_000;

interface SessionRow {
  readonly key_id: string;
  readonly expires_at: number;
}

/** Stores a session of a key, and forgets those that have ended. */
export async function beginSession(
  sql: Sql,
  { token, keyId, nowMs }: { readonly token: string; readonly keyId: string; readonly nowMs: number },
): Promise<void> {
  await sql.query('DELETE FROM console_sessions WHERE expires_at <= $1', [nowMs]);
  await sql.query('INSERT INTO console_sessions (digest, key_id, begun_at, expires_at) VALUES ($1, $2, $3, $4)', [
    ...[digestOf(token), keyId, nowMs, nowMs + SESSION_IDLE_MS],
  ]);
}

/** The id of the key that a session is of; null for an unknown or ended one. */
export async function keyOfSession(sql: Sql, token: string, nowMs: number): Promise<string | null> {
  const digest = digestOf(token);
  const [row] = await sql.query<SessionRow>(
    'SELECT key_id, expires_at FROM console_sessions WHERE digest = $1 AND expires_at > $2',
    [digest, nowMs],
  );
  if (row === undefined) return null;
  const expiresAt = nowMs + SESSION_IDLE_MS;
  if (expiresAt - row.expires_at > PROLONG_MS) {
    await sql.query('UPDATE console_sessions SET expires_at = $2 WHERE digest = $1', [digest, expiresAt]);
  }
  return row.key_id;
}

export async function endSession(sql: Sql, token: string): Promise<void> {
  await sql.query('DELETE FROM console_sessions WHERE digest = $1', [digestOf(token)]);
}
