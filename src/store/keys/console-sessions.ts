import type { Sql } from '../database/database.ts';
import { digestOf } from './api-keys.ts';

/** A session ends so long after its last request. */
export const SESSION_IDLE_MS = 7 * 86_400_000;
/** A session ends this long after its start, even if it is used. */
export const SESSION_MS_MAX = 30 * 86_400_000;
/** Sessions of one key. One more ends the one whose last use is longest ago. */
export const SESSIONS_OF_KEY_MAX = 100;
/** A session that is used is prolonged this often, not with every request. */
const PROLONG_MS = 3_600_000;
/** Characters of an id: enough to distinguish sessions, and no secret, as they are of the digest. */
const ID_CHARACTERS = 16;

/** A session without its token, which only the browser has. */
export interface ConsoleSession {
  readonly id: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly begunAtMs: number;
  /** Time of the last request that prolonged it, so up to an hour before the last one. */
  readonly usedAtMs: number;
  readonly endsAtMs: number;
}

interface SessionRow {
  readonly digest: Uint8Array;
  readonly key_id: string;
  readonly name: string;
  readonly begun_at: number;
  readonly expires_at: number;
}

/** Condition of sessions that have not ended: $1 is now. */
const OPEN = `expires_at > $1 AND begun_at > $1 - ${SESSION_MS_MAX}`;

/** Stores a session of a key, and forgets those that have ended. */
export async function beginSession(
  sql: Sql,
  { token, keyId, nowMs }: { readonly token: string; readonly keyId: string; readonly nowMs: number },
): Promise<void> {
  await sql.query(`DELETE FROM console_sessions WHERE NOT (${OPEN})`, [nowMs]);
  await sql.query('INSERT INTO console_sessions (digest, key_id, begun_at, expires_at) VALUES ($1, $2, $3, $4)', [
    ...[digestOf(token), keyId, nowMs, nowMs + SESSION_IDLE_MS],
  ]);
  await sql.query(
    `DELETE FROM console_sessions WHERE digest IN
      (SELECT digest FROM console_sessions WHERE key_id = $1 ORDER BY expires_at DESC, begun_at DESC, digest
       LIMIT 1000 OFFSET ${SESSIONS_OF_KEY_MAX})`,
    [keyId],
  );
}

/** The id of the key that a session is of; null for an unknown or ended one. */
export async function keyOfSession(sql: Sql, token: string, nowMs: number): Promise<string | null> {
  const digest = digestOf(token);
  const [row] = await sql.query<Pick<SessionRow, 'key_id' | 'expires_at'>>(
    `SELECT key_id, expires_at FROM console_sessions WHERE digest = $2 AND ${OPEN}`,
    [nowMs, digest],
  );
  if (row === undefined) return null;
  const expiresAt = nowMs + SESSION_IDLE_MS;
  if (expiresAt - row.expires_at > PROLONG_MS) {
    await sql.query('UPDATE console_sessions SET expires_at = $2 WHERE digest = $1', [digest, expiresAt]);
  }
  return row.key_id;
}

/** The sessions of a key, or of all keys (null), the last used one first. */
export async function listSessions(
  sql: Sql,
  { keyId, nowMs }: { readonly keyId: string | null; readonly nowMs: number },
): Promise<ConsoleSession[]> {
  const rows = await sql.query<SessionRow>(
    `SELECT digest, key_id, (SELECT name FROM api_keys WHERE id = key_id) AS name, begun_at, expires_at
      FROM console_sessions WHERE ${OPEN} AND (CAST($2 AS TEXT) IS NULL OR key_id = $2)
      ORDER BY expires_at DESC, begun_at DESC`,
    [nowMs, keyId],
  );
  return rows.map((row) => ({
    id: idOf(row.digest),
    keyId: row.key_id,
    keyName: row.name,
    begunAtMs: row.begun_at,
    usedAtMs: row.expires_at - SESSION_IDLE_MS,
    endsAtMs: Math.min(row.expires_at, row.begun_at + SESSION_MS_MAX),
  }));
}

export function sessionId(token: string): string {
  return idOf(digestOf(token));
}

export async function sessionDigests(sql: Sql): Promise<Uint8Array[]> {
  const rows = await sql.query<Pick<SessionRow, 'digest'>>('SELECT digest FROM console_sessions');
  return rows.map(({ digest }) => digest);
}

export async function endSession(sql: Sql, token: string): Promise<void> {
  await sql.query('DELETE FROM console_sessions WHERE digest = $1', [digestOf(token)]);
}

/** Ends the sessions of a key, or of all keys (null), or the one of an id among them. Returns their number. */
export async function endSessions(
  sql: Sql,
  { keyId, id = null }: { readonly keyId: string | null; readonly id?: string | null },
): Promise<number> {
  const rows = await sql.query<Pick<SessionRow, 'digest'>>(
    'SELECT digest FROM console_sessions WHERE CAST($1 AS TEXT) IS NULL OR key_id = $1',
    [keyId],
  );
  const ended = rows.filter(({ digest }) => id === null || idOf(digest) === id);
  for (const { digest } of ended) await sql.query('DELETE FROM console_sessions WHERE digest = $1', [digest]);
  return ended.length;
}

function idOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('hex').slice(0, ID_CHARACTERS);
}
