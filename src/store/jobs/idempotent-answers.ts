import type { Sql } from '../database/database.ts';
import type { Idempotency } from './jobs.ts';

/** Time within which a request can be repeated under its key. */
export const ANSWERS_KEPT_MS = 86_400_000;

/** The answer that is kept under this key, and whether it was to the same request; null for a new key. */
export async function findAnswer(sql: Sql, owner: string, { key, digest }: Idempotency) {
  const [row] = await sql.query<{ answer: string; digest: string }>(
    `SELECT answer, request_digest AS digest FROM idempotent_answers WHERE owner = $1 AND idempotency_key = $2`,
    [owner, key],
  );
  return row === undefined ? null : { answer: JSON.parse(row.answer) as object, same: row.digest === digest };
}

/**
 * Keeps an answer. Returns false when there is one under this key already. Safe under concurrency.
 * @param sql the transaction of what was answered
 */
export async function keepAnswer(
  sql: Sql,
  { key, digest }: Idempotency,
  { owner, answer, nowMs }: { readonly owner: string; readonly answer: object; readonly nowMs: number },
): Promise<boolean> {
  const rows = await sql.query(
    `INSERT INTO idempotent_answers (owner, idempotency_key, request_digest, answer, answered_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING owner`,
    [owner, key, digest, JSON.stringify(answer), nowMs],
  );
  return rows.length > 0;
}

export async function pruneAnswers(sql: Sql, nowMs: number): Promise<number> {
  const text = 'DELETE FROM idempotent_answers WHERE answered_at < $1 RETURNING owner';
  return (await sql.query(text, [nowMs - ANSWERS_KEPT_MS])).length;
}
