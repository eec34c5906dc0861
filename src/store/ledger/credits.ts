import assert from 'node:assert/strict';
import type { Database, Sql } from '../database/database.ts';
import { addUsage, MINUTE_MS, minuteOf } from './usage.ts';

export interface CallRequest {
  readonly holdId: string;
  readonly keyId: string;
  readonly tokens: number;
  readonly nowMs: number;
  /** The process that answers the call. Its holds last while it renews them. */
  readonly holder: string;
  readonly leaseUntilMs: number;
}

/** Limits that a key has left after an admitted call; null without such a limit. */
export interface KeyStanding {
  readonly minute: { readonly callsMax: number; readonly callsLeft: number; readonly resetMs: number } | null;
  readonly credits: number | null;
}

export type CallBegin =
  | { readonly kind: 'begun'; readonly standing: KeyStanding }
  /** Refused, as are the others below; nothing is held. */
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'too-many-a-minute'; readonly callsMax: number; readonly retryAfterMs: number }
  | { readonly kind: 'too-many-at-once'; readonly callsMax: number }
  /** The key is revoked or expired. */
  | { readonly kind: 'unusable' };

interface LedgerRow {
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly calls_per_minute: number | null;
  readonly calls_at_once: number | null;
  readonly credits: number | null;
}

/**
 * Locks the ledger of a key until the end of the transaction. Invariant of a key with credits: balance + open holds +
 * charged = granted, and none is negative.
 */
async function lockKey(sql: Sql, keyId: string): Promise<LedgerRow> {
  const locked = sql.dialect === 'postgres' ? ' FOR UPDATE' : '';
  const [key] = await sql.query<LedgerRow>(`SELECT * FROM api_keys WHERE id = $1${locked}`, [keyId]);
  assert(key !== undefined, 'a key is never removed');
  return key;
}

/**
 * Admits a call and holds its price, or returns the reason of the refusal. Expired holds are released first.
 * @param sql a transaction, as for all functions below
 */
export async function beginCall(sql: Sql, call: CallRequest): Promise<CallBegin> {
  const { keyId, nowMs } = call;
  const key = await lockKey(sql, keyId);
  const { credits: left, calls_per_minute: perMinute, calls_at_once: atOnce } = key;
  if (key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= nowMs)) return { kind: 'unusable' };
  const credits = left === null ? null : left + (await releaseExpired(sql, keyId, nowMs));
  const resetMs = minuteOf(nowMs) + MINUTE_MS - nowMs;
  const calls = perMinute === null ? 0 : await callsInMinute(sql, keyId, nowMs);
  if (perMinute !== null && calls >= perMinute) {
    return { kind: 'too-many-a-minute', callsMax: perMinute, retryAfterMs: resetMs };
  }
  if (atOnce !== null && (await openCalls(sql, keyId, nowMs)) >= atOnce) {
    return { kind: 'too-many-at-once', callsMax: atOnce };
  }
  if (credits !== null && credits < call.tokens) return { kind: 'exhausted' };
  const held = credits === null ? 0 : call.tokens;
  await addCredits(sql, keyId, -held);
  await sql.query(
    'INSERT INTO credit_holds (id, key_id, tokens, held_at, lease_until, holder) VALUES ($1, $2, $3, $4, $5, $6)',
    [call.holdId, keyId, held, nowMs, call.leaseUntilMs, call.holder],
  );
  await addUsage(sql, { keyId, nowMs }, { calls: 1 });
  const minute = perMinute === null ? null : { callsMax: perMinute, callsLeft: perMinute - calls - 1, resetMs };
  return { kind: 'begun', standing: { minute, credits: credits === null ? null : credits - held } };
}

/**
 * Settles a call. If its hold has expired, the call is charged from the balance. If the balance does not suffice, or
 * the key was revoked in the meantime, nothing is charged, and the call must not be answered.
 */
export async function settleCall(
  sql: Sql,
  { holdId, keyId }: AdmittedCall,
  { tokens, nowMs }: { readonly tokens: number; readonly nowMs: number },
): Promise<'settled' | 'exhausted' | 'revoked'> {
  const { credits, revoked_at: revokedAt } = await lockKey(sql, keyId);
  const held = holdId === null ? 0 : await popHold(sql, holdId);
  if (revokedAt !== null) {
    await addCredits(sql, keyId, held ?? 0);
    return 'revoked';
  }
  if (holdId === null) {
    await addUsage(sql, { keyId, nowMs }, { calls: 1, requests: 1, tokens });
    return 'settled';
  }
  if (held === null && credits !== null && credits < tokens) return 'exhausted';
  const charged = held === null ? (credits === null ? 0 : tokens) : Math.min(held, tokens);
  await addCredits(sql, keyId, (held ?? 0) - charged);
  await addUsage(sql, { keyId, nowMs }, { requests: 1, tokens, charged });
  return 'settled';
}

/** Releases the hold of a call that was not answered. Has no effect when it was released before. */
export async function releaseCall(
  sql: Sql,
  { holdId, keyId }: AdmittedCall & { readonly holdId: string },
): Promise<void> {
  await lockKey(sql, keyId);
  await addCredits(sql, keyId, (await popHold(sql, holdId)) ?? 0);
}

/** An admitted call. An unlimited key has no hold. */
export interface AdmittedCall {
  readonly keyId: string;
  readonly holdId: string | null;
}

interface CallEnd {
  /** The charge; null releases the hold, since the call was not answered. */
  readonly tokens: number | null;
  readonly nowMs: number;
}

export async function endCall(
  sql: Sql,
  { keyId, holdId }: AdmittedCall,
  { tokens, nowMs }: CallEnd,
): Promise<'settled' | 'released' | 'exhausted' | 'revoked'> {
  if (tokens !== null) return settleCall(sql, { keyId, holdId }, { tokens, nowMs });
  if (holdId !== null) await releaseCall(sql, { keyId, holdId });
  return 'released';
}

export async function renewHolds(sql: Sql, holder: string, leaseUntilMs: number): Promise<void> {
  await sql.query('UPDATE credit_holds SET lease_until = $2 WHERE holder = $1 AND lease_until < $2', [
    holder,
    leaseUntilMs,
  ]);
}

/** Releases expired holds of all keys, one transaction per key. */
export async function releaseExpiredHolds(database: Database, nowMs: number): Promise<void> {
  const text = 'SELECT DISTINCT key_id AS "keyId" FROM credit_holds WHERE lease_until <= $1';
  for (const { keyId } of await database.query<{ keyId: string }>(text, [nowMs])) {
    await database.transaction(async (sql) => {
      await lockKey(sql, keyId);
      await releaseExpired(sql, keyId, nowMs);
    });
  }
}

async function releaseExpired(sql: Sql, keyId: string, nowMs: number): Promise<number> {
  const rows = await sql.query<{ tokens: number }>(
    'DELETE FROM credit_holds WHERE key_id = $1 AND lease_until <= $2 RETURNING tokens',
    [keyId, nowMs],
  );
  const tokens = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  await addCredits(sql, keyId, tokens);
  return tokens;
}

async function popHold(sql: Sql, holdId: string): Promise<number | null> {
  const [hold] = await sql.query<{ tokens: number }>('DELETE FROM credit_holds WHERE id = $1 RETURNING tokens', [
    holdId,
  ]);
  return hold?.tokens ?? null;
}

/** Has no effect on an unlimited key. */
async function addCredits(sql: Sql, keyId: string, tokens: number): Promise<void> {
  if (tokens !== 0) await sql.query('UPDATE api_keys SET credits = credits + $2 WHERE id = $1', [keyId, tokens]);
}

async function callsInMinute(sql: Sql, keyId: string, nowMs: number): Promise<number> {
  const text = 'SELECT calls FROM usage_minutes WHERE key_id = $1 AND minute_at = $2';
  return (await sql.query<{ calls: number }>(text, [keyId, minuteOf(nowMs)]))[0]?.calls ?? 0;
}

async function openCalls(sql: Sql, keyId: string, nowMs: number): Promise<number> {
  const text = 'SELECT COUNT(*) AS count FROM credit_holds WHERE key_id = $1 AND lease_until > $2';
  return (await sql.query<{ count: number }>(text, [keyId, nowMs]))[0].count;
}
