import type { Database } from './database/database.ts';
import { ROWS_AT_ONCE, untilDone } from './database/in-batches.ts';
import { addUsage, type UsageIncrease } from './ledger/usage.ts';

const DAY_MS = 86_400_000;
/** More than a year, so that a month can be compared with that of the year before. */
export const AUDIT_DAYS = 400;
export const USAGE_DAYS = 400;
/** The minute that holds the condensed usage of a key. */
const CONDENSED_AT = 0;

/** Deletes audit events older than AUDIT_DAYS and returns their number. Safe under concurrency. */
export function pruneAudit(database: Database, nowMs: number): Promise<number> {
  return untilDone(async () => {
    const rows = await database.query(
      `DELETE FROM audit_log WHERE number IN
        (SELECT number FROM audit_log WHERE happened_at < $1 ORDER BY happened_at LIMIT $2) RETURNING number`,
      [nowMs - AUDIT_DAYS * DAY_MS, ROWS_AT_ONCE],
    );
    return rows.length;
  });
}

type Minute = Required<UsageIncrease> & { readonly key: string };

/**
 * Condenses usage older than USAGE_DAYS into one row per key, so that the ledger still balances. Returns the number of
 * condensed minutes. Safe under concurrency.
 */
export function condenseUsage(database: Database, nowMs: number): Promise<number> {
  return untilDone(() =>
    database.transaction(async (sql) => {
      const minutes = await sql.query<Minute>(
        `DELETE FROM usage_minutes WHERE (key_id, minute_at) IN
          (SELECT key_id, minute_at FROM usage_minutes WHERE minute_at > $1 AND minute_at < $2
           ORDER BY minute_at LIMIT $3)
          RETURNING key_id AS key, calls, requests, tokens, charged`,
        [CONDENSED_AT, nowMs - USAGE_DAYS * DAY_MS, ROWS_AT_ONCE],
      );
      // Sorted, so that concurrent replicas lock keys in the same order.
      const byKey = [...Map.groupBy(minutes, ({ key }) => key)].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [key, own] of byKey) await addUsage(sql, { keyId: key, nowMs: CONDENSED_AT }, sumOf(own));
      return minutes.length;
    }),
  );
}

function sumOf(minutes: readonly Minute[]): Required<UsageIncrease> {
  const sum = (name: keyof UsageIncrease) => minutes.reduce((all, minute) => all + minute[name], 0);
  return { calls: sum('calls'), requests: sum('requests'), tokens: sum('tokens'), charged: sum('charged') };
}
