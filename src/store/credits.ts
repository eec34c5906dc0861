import assert from 'node:assert/strict';
import type { Database, Sql } from './database.ts';
import { addUsage, MINUTE_MS, minuteOf } from './usage.ts';

/** A call that wants to begin. */
export interface CallRequest {
  /** Names its hold; new. */
  readonly holdId: string;
  readonly keyId: string;
  /** What it costs. */
  readonly tokens: number;
  readonly nowMs: number;
  /** Which process answers it: its holds live as long as it renews them. */
  readonly holder: string;
  readonly leaseUntilMs: number;
}

export type CallBegin =
  | { readonly kind: 'begun' }
  /** Nothing was held, as for the others below. */
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'too-many-a-minute'; readonly callsMax: number; readonly retryAfterMs: number }
  | { readonly kind: 'too-many-at-once'; readonly callsMax: number }
  /** The key was revoked or has expired. */
  | { readonly kind: 'unusable' };

interface LedgerRow {
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly calls_per_minute: number | null;
  readonly calls_at_once: number | null;
  readonly credits: number | null;
}

type LedgerWork<T> = (sql: Sql, key: LedgerRow) => Promise<T>;

/**
 * Whoever changes the ledger of a key has it alone until the change is whole. So at any moment, for a key with credits:
 * credits left + open holds + charged = granted, and nothing of it is below zero.
 */
async function withKey<T>(database: Database, keyId: string, work: LedgerWork<T>): Promise<T> {
  const locked = database.dialect === 'postgres' ? ' FOR UPDATE' : '';
  return database.transaction(async (sql) => {
    const [key] = await sql.query<LedgerRow>(`SELECT * FROM api_keys WHERE id = $1${locked}`, [keyId]);
    assert(key !== undefined, 'a key is never removed');
    return work(sql, key);
  });
}

/** Lets a call in and holds what it costs, or says why not. Holds whose process fell silent are given back first. */
export async function beginCall(database: Database, call: CallRequest): Promise<CallBegin> {
  const { keyId, nowMs } = call;
  return withKey(database, keyId, async (sql, key) => {
    const { credits: left, calls_per_minute: perMinute, calls_at_once: atOnce } = key;
    if (key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= nowMs)) return { kind: 'unusable' };
    const credits = left === null ? null : left + (await releaseSilent(sql, keyId, nowMs));
    if (perMinute !== null && (await callsInMinute(sql, keyId, nowMs)) >= perMinute) {
      return { kind: 'too-many-a-minute', callsMax: perMinute, retryAfterMs: minuteOf(nowMs) + MINUTE_MS - nowMs };
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
    await addUsage(sql, keyId, nowMs, { calls: 1 });
    return { kind: 'begun' };
  });
}

export interface CallEnd {
  readonly holdId: string;
  readonly keyId: string;
  readonly nowMs: number;
}

/**
 * Charges a call that was answered. A hold that was given back meanwhile, as its process was silent for too long, is no matter as long as the
 * credits still suffice; if they do not, the call must not be answered.
 */
export async function settleCall(
  database: Database,
  { holdId, keyId, nowMs, tokens }: CallEnd & { readonly tokens: number },
): Promise<'settled' | 'exhausted'> {
  return withKey(database, keyId, async (sql, { credits }) => {
    const held = await takeHold(sql, holdId);
    if (held === null && credits !== null && credits < tokens) return 'exhausted';
    const charged = held === null ? (credits === null ? 0 : tokens) : Math.min(held, tokens);
    await addCredits(sql, keyId, (held ?? 0) - charged);
    await addUsage(sql, keyId, nowMs, { requests: 1, tokens, charged });
    return 'settled';
  });
}

/** Gives back what was held for a call that was not answered. Does nothing where that was done before. */
export async function releaseCall(database: Database, { holdId, keyId }: Omit<CallEnd, 'nowMs'>): Promise<void> {
  await withKey(database, keyId, async (sql) => addCredits(sql, keyId, (await takeHold(sql, holdId)) ?? 0));
}

/** Says that a process is there: the holds of its calls live on. */
export async function renewHolds(database: Database, holder: string, leaseUntilMs: number): Promise<void> {
  const text = 'UPDATE credit_holds SET lease_until = $2 WHERE holder = $1 AND lease_until < $2';
  await database.transaction((sql) => sql.query(text, [holder, leaseUntilMs]));
}

/** Gives back the holds of processes that fell silent, of every key. */
export async function releaseSilentHolds(database: Database, nowMs: number): Promise<void> {
  const text = 'SELECT DISTINCT key_id AS "keyId" FROM credit_holds WHERE lease_until <= $1';
  for (const { keyId } of await database.query<{ keyId: string }>(text, [nowMs])) {
    await withKey(database, keyId, (sql) => releaseSilent(sql, keyId, nowMs));
  }
}

/** Gives how many tokens came back. */
async function releaseSilent(sql: Sql, keyId: string, nowMs: number): Promise<number> {
  const rows = await sql.query<{ tokens: number }>(
    'DELETE FROM credit_holds WHERE key_id = $1 AND lease_until <= $2 RETURNING tokens',
    [keyId, nowMs],
  );
  const tokens = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  await addCredits(sql, keyId, tokens);
  return tokens;
}

async function takeHold(sql: Sql, holdId: string): Promise<number | null> {
  const [hold] = await sql.query<{ tokens: number }>('DELETE FROM credit_holds WHERE id = $1 RETURNING tokens', [
    holdId,
  ]);
  return hold?.tokens ?? null;
}

/** A key without credits stays without. */
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
