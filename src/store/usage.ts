import type { Sql } from './database.ts';

export const MINUTE_MS = 60_000;

export interface UsageCounts {
  /** Requests that were answered. */
  readonly requests: number;
  readonly tokens: number;
}

export interface KeyUsage {
  /** The minute, and the month (UTC), that run now. */
  readonly minute: UsageCounts;
  readonly month: UsageCounts;
}

/** What is added to the minute of a key. */
export interface UsageIncrease {
  /** Calls that were let in. */
  readonly calls?: number;
  readonly requests?: number;
  readonly tokens?: number;
  /** Tokens that credits paid for. */
  readonly charged?: number;
}

export const minuteOf = (nowMs: number) => nowMs - (nowMs % MINUTE_MS);

/** Adds to what a key has used in the minute that runs now. */
export async function addUsage(
  sql: Sql,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
  increase: UsageIncrease,
): Promise<void> {
  const { calls = 0, requests = 0, tokens = 0, charged = 0 } = increase;
  await sql.query(
    `INSERT INTO usage_minutes (key_id, minute_at, calls, requests, tokens, charged) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (key_id, minute_at) DO UPDATE SET calls = usage_minutes.calls + $3,
        requests = usage_minutes.requests + $4, tokens = usage_minutes.tokens + $5,
        charged = usage_minutes.charged + $6`,
    [keyId, minuteOf(nowMs), calls, requests, tokens, charged],
  );
}

/** What a key has used, in every process of the service. */
export async function usageOf(sql: Sql, keyId: string, nowMs: number): Promise<KeyUsage> {
  const now = new Date(nowMs);
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const since = (fromMs: number) =>
    sql.query<UsageCounts>(
      `SELECT COALESCE(SUM(requests), 0) AS requests, COALESCE(SUM(tokens), 0) AS tokens FROM usage_minutes
        WHERE key_id = $1 AND minute_at >= $2 AND minute_at <= $3`,
      [keyId, fromMs, minuteOf(nowMs)],
    );
  const [[minute], [month]] = await Promise.all([since(minuteOf(nowMs)), since(monthMs)]);
  return { minute, month };
}
