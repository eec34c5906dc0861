import type { Sql } from '../database/database.ts';

export const MINUTE_MS = 60_000;

interface UsageCounts {
  readonly requests: number;
  readonly tokens: number;
}

/** Added to the current minute of a key. */
export interface UsageIncrease {
  /** Calls: admitted ones, and refused ones of keys with a limit a minute. */
  readonly calls?: number;
  readonly requests?: number;
  readonly tokens?: number;
  readonly charged?: number;
}

export const minuteOf = (nowMs: number) => nowMs - (nowMs % MINUTE_MS);

/** Adds to the usage of a key in the current minute. Returns the calls of that minute. */
export async function addUsage(
  sql: Sql,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
  increase: UsageIncrease,
): Promise<number> {
  const { calls = 0, requests = 0, tokens = 0, charged = 0 } = increase;
  const [minute] = await sql.query<{ calls: number }>(
    `INSERT INTO usage_minutes (key_id, minute_at, calls, requests, tokens, charged) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (key_id, minute_at) DO UPDATE SET calls = usage_minutes.calls + $3,
        requests = usage_minutes.requests + $4, tokens = usage_minutes.tokens + $5,
        charged = usage_minutes.charged + $6 RETURNING calls`,
    [keyId, minuteOf(nowMs), calls, requests, tokens, charged],
  );
  return minute.calls;
}

/** The usage of a key in the current minute and month (UTC). */
export async function usageOf(sql: Sql, keyId: string, nowMs: number) {
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

interface DayUsage extends UsageCounts {
  readonly day: string;
  readonly calls: number;
  readonly charged: number;
}

const DAY_MS = 86_400_000;

/** The usage of a key by day (UTC), over all processes: days with usage, newest first, of the last `days`. */
export async function usageByDay(
  sql: Sql,
  keyId: string,
  { nowMs, days }: { readonly nowMs: number; readonly days: number },
): Promise<DayUsage[]> {
  const firstMs = nowMs - (nowMs % DAY_MS) - (days - 1) * DAY_MS;
  const rows = await sql.query<Omit<DayUsage, 'day'> & { readonly number: number }>(
    `SELECT minute_at / ${DAY_MS} AS number, SUM(calls) AS calls, SUM(requests) AS requests, SUM(tokens) AS tokens,
        SUM(charged) AS charged FROM usage_minutes
      WHERE key_id = $1 AND minute_at >= $2 AND minute_at <= $3 GROUP BY 1 ORDER BY 1 DESC`,
    [keyId, firstMs, nowMs],
  );
  return rows.map(({ number, ...usage }) => ({ day: new Date(number * DAY_MS).toISOString().slice(0, 10), ...usage }));
}
