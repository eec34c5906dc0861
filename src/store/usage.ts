import type { Sql } from './database.ts';

export const MINUTE_MS = 60_000;

export interface UsageCounts {
  /** Answered requests. */
  readonly requests: number;
  readonly tokens: number;
}

export interface KeyUsage {
  /** The current minute and month (UTC). */
  readonly minute: UsageCounts;
  readonly month: UsageCounts;
}

/** Added to the current minute of a key. */
export interface UsageIncrease {
  /** Admitted calls. */
  readonly calls?: number;
  readonly requests?: number;
  readonly tokens?: number;
  /** Tokens paid with credits. */
  readonly charged?: number;
}

export const minuteOf = (nowMs: number) => nowMs - (nowMs % MINUTE_MS);

/** Adds to the usage of a key in the current minute. */
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

/** The usage of a key, over all processes. */
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
