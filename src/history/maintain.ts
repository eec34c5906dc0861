import type { HistoryDatabase, HistorySql } from './sql/history-database.ts';
import { dropPart, listParts, sealPart } from './sql/score-parts.ts';

export interface HistoryBounds {
  /** Older rows are dropped. */
  readonly days: number;
  /** Size on disk. The oldest scores are dropped first. */
  readonly gb: number;
}

export const PART_LIMITS = {
  rowsMax: 4_000_000,
  /** A part is sealed after this time, so that scores are dropped day by day. */
  ageMsMax: 86_400_000,
};
export type PartLimits = Readonly<typeof PART_LIMITS>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GB = 1e9;
/** A part is at most this share of the size, so that dropping one leaves most of the history. */
const SHARE_OF_SIZE = 0.1;
/** About what a score takes on disk. */
const SCORE_BYTES = 30;
const LETTERS_MAX = 100_000;
/** Events that are kept, and incidents. */
const EVENTS_MAX = 1_000_000;

export function partRowsMax({ gb }: HistoryBounds, { rowsMax }: PartLimits): number {
  return Math.min(rowsMax, Math.max(1_000, (gb * GB * SHARE_OF_SIZE) / SCORE_BYTES));
}

/** Seals the open part where it is full or old. */
export async function sealFull(sql: HistorySql, { rowsMax, ageMsMax }: PartLimits, nowMs: number): Promise<void> {
  const open = (await listParts(sql)).at(-1);
  if (open === undefined || open.sealed || open.rows === 0) return;
  if (open.rows >= rowsMax || nowMs - open.openedAtMs >= ageMsMax) await sealPart(sql, open);
}

/** Drops what the bounds do not allow. */
export async function dropExcess(database: HistoryDatabase, bounds: HistoryBounds, nowMs: number): Promise<void> {
  const oldestMs = nowMs - bounds.days * DAY_MS;
  await database.write(async (sql) => {
    for (const part of await listParts(sql)) {
      if (part.sealed && (part.filledAtMs ?? 0) < oldestMs) await dropPart(sql, part);
    }
    await dropOld(sql, oldestMs);
    await dropHours(sql);
  });
  for (;;) {
    // What was dropped counts until it is reclaimed: the next maintenance continues.
    if (!(await database.reclaim())) return;
    const bytes = await database.bytes();
    if (bytes <= bounds.gb * GB) return;
    const dropped = await database.write((sql) => dropOldest(sql, 1 - (bounds.gb * GB) / bytes));
    if (!dropped) return;
  }
}

/** Drops the oldest parts that hold a share of all scores, but not the newest part. Returns false if that is all. */
async function dropOldest(sql: HistorySql, share: number): Promise<boolean> {
  const parts = (await listParts(sql)).filter((part) => part.rows > 0);
  let excess = share * parts.reduce((sum, { rows }) => sum + rows, 0);
  const oldest = parts.slice(0, -1);
  for (const part of oldest) {
    if (excess <= 0) break;
    await dropPart(sql, part);
    excess -= part.rows;
  }
  await dropHours(sql);
  return oldest.length > 0;
}

/** Drops the counts of hours of which no score is kept any more. */
async function dropHours(sql: HistorySql): Promise<void> {
  await sql.query(
    `DELETE FROM history_hours WHERE hour + ${HOUR_MS} <=
      COALESCE((SELECT MIN(from_time) FROM history_parts), hour + ${HOUR_MS})`,
  );
}

async function dropOld(sql: HistorySql, oldestMs: number): Promise<void> {
  await sql.query('DELETE FROM history_events WHERE ended IS NOT NULL AND kept_at < $1', [oldestMs]);
  await sql.query(
    `DELETE FROM history_events WHERE id IN
      (SELECT id FROM history_events ORDER BY started DESC, id OFFSET ${EVENTS_MAX})`,
  );
  await sql.query('DELETE FROM history_members WHERE event_id NOT IN (SELECT id FROM history_events)');
  await sql.query(
    'DELETE FROM history_incidents WHERE (ended IS NOT NULL OR merged_into IS NOT NULL) AND kept_at < $1',
    [oldestMs],
  );
  await sql.query(
    `DELETE FROM history_incidents WHERE id IN
      (SELECT id FROM history_incidents ORDER BY started DESC, id OFFSET ${EVENTS_MAX})`,
  );
  await sql.query('DELETE FROM history_incident_events WHERE incident_id NOT IN (SELECT id FROM history_incidents)');
  await sql.query('DELETE FROM history_letters WHERE made_at < $1', [oldestMs]);
  await sql.query(
    `DELETE FROM history_letters WHERE (partition, letter_offset) IN
      (SELECT partition, letter_offset FROM history_letters ORDER BY made_at DESC, partition, letter_offset
        OFFSET ${LETTERS_MAX})`,
  );
  const [{ gone }] = await sql.query<{ gone: number }>(
    'SELECT COUNT(*) AS gone FROM history_series WHERE kept_at < $1',
    [oldestMs],
  );
  if (gone > 0) {
    await sql.query('DELETE FROM history_series WHERE kept_at < $1', [oldestMs]);
    // Whoever holds ids of series looks them up again.
    await sql.query('UPDATE history_version SET forgotten = forgotten + 1');
  }
}
