import type { PageKey, SpanSelection } from '../port/span-port.ts';
import type { Conditions, HistorySql } from '../sql/history-database.ts';

const IS_OPEN = 'CASE WHEN ended IS NULL THEN 1 ELSE 0 END';

interface SpanRow {
  readonly id: string;
  readonly started: number;
  readonly is_open: number;
  readonly record: string;
}

/**
 * A page of a table of what begins and ends: events or incidents. Open ones first, then newest first.
 * @param page conditions of rows in addition to those on times
 * @param columns further columns, of `Row`
 */
export async function readSpans<Row extends object>(
  sql: HistorySql,
  { table, columns = [] }: { readonly table: string; readonly columns?: readonly string[] },
  page: Conditions,
  { open, fromMs, toMs, limit, after }: SpanSelection,
): Promise<{ readonly rows: readonly (SpanRow & Row)[]; readonly next: PageKey | null }> {
  if (open !== null) page.add(open ? 'ended IS NULL' : 'ended IS NOT NULL');
  if (fromMs !== null) page.add(`(ended IS NULL OR ended >= ${page.mark(fromMs)})`);
  if (toMs !== null) page.add(`started < ${page.mark(toMs)}`);
  if (after !== null) {
    const [isOpen, started, id] = after.map((key) => page.mark(key));
    const before = `CAST(${isOpen} AS INT4)`;
    const sameOpen = `started < ${started} OR (started = ${started} AND id > ${id})`;
    page.add(`(${IS_OPEN} < ${before} OR (${IS_OPEN} = ${before} AND (${sameOpen})))`);
  }
  const rows = await sql.query<SpanRow & Row>(
    `SELECT ${['id', 'started', `${IS_OPEN} AS is_open`, 'record', ...columns].join(', ')} FROM ${table} ${page.where}
      ORDER BY is_open DESC, started DESC, id LIMIT ${page.mark(limit + 1)}`,
    page.values,
  );
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? null : [last.is_open, last.started, last.id] };
}

/** An event, whose id is in a column, is of a series or group that a glob or matchers choose, or of such a member. */
export function eventChosen(page: Conditions, idColumn: string, match: string): string {
  const own = page.choice('COALESCE(series, member_of)', match);
  const member = page.choice('series', match);
  return `(${own} OR ${idColumn} IN (SELECT event_id FROM history_members WHERE ${member}))`;
}
