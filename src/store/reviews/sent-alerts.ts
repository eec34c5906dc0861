import type { Sql } from '../database/database.ts';
import { rowMarks } from '../database/marks.ts';

/** Newest notifications that are kept. An event or incident of a message is one entry. */
const SENT_KEPT_MAX = 100_000;
const ROWS_AT_ONCE = 100;

/** A notification of a receiver about an event or incident, with its outcome. */
export interface SentAlert {
  readonly atMs: number;
  /** The same each time that the message is repeated. */
  readonly notificationId: string;
  readonly receiver: string;
  readonly route: string;
  /** `opened`, `updated` or `closed`. */
  readonly type: string;
  readonly about: 'event' | 'incident';
  readonly subjectId: string;
  /** Its series, group or detector; of an incident its summary. */
  readonly subject: string;
  /** `accepted`, or why it failed. */
  readonly outcome: string;
  readonly detail: string | null;
}

interface SentSelection {
  /** Ids of an event and its incident; empty: all. */
  readonly subjectIds: readonly string[];
  readonly receiver: string | null;
  readonly limit: number;
  /** The number of the last entry of the page before; null on the first one. */
  readonly before: number | null;
}

const COLUMNS = {
  sent_at: 'atMs',
  notification_id: 'notificationId',
  receiver: 'receiver',
  route: 'route',
  type: 'type',
  about: 'about',
  subject_id: 'subjectId',
  subject: 'subject',
  outcome: 'outcome',
  detail: 'detail',
} as const satisfies Readonly<Record<string, keyof SentAlert>>;

/** Keeps what was sent, in the order in which it was; the oldest is forgotten. */
export async function keepSent(sql: Sql, sent: readonly SentAlert[], keptMax = SENT_KEPT_MAX): Promise<void> {
  const fields = Object.values(COLUMNS);
  for (let first = 0; first < sent.length; first += ROWS_AT_ONCE) {
    const rows = sent.slice(first, first + ROWS_AT_ONCE).map((row) => fields.map((field) => row[field]));
    const text = `INSERT INTO sent_alerts (${Object.keys(COLUMNS).join(', ')}) VALUES ${rowMarks(rows)}`;
    await sql.query(text, rows.flat());
  }
  const oldest = `(SELECT MAX(number) FROM sent_alerts) - ${keptMax}`;
  await sql.query(`DELETE FROM sent_alerts WHERE number <= ${oldest}`);
}

/** Notifications, the newest first. */
export async function listSent(
  sql: Sql,
  { subjectIds, receiver, limit, before }: SentSelection,
): Promise<{ readonly sent: readonly SentAlert[]; readonly next: number | null }> {
  const values: (string | number)[] = [];
  const mark = (value: string | number) => `$${values.push(value)}`;
  const conditions = [
    ...(subjectIds.length === 0 ? [] : [`subject_id IN (${subjectIds.map(mark).join(', ')})`]),
    ...(receiver === null ? [] : [`receiver = ${mark(receiver)}`]),
    ...(before === null ? [] : [`number < ${mark(before)}`]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const rows = await sql.query<Record<string, string | number | null> & { readonly number: number }>(
    `SELECT * FROM sent_alerts ${where} ORDER BY number DESC LIMIT ${mark(limit + 1)}`,
    values,
  );
  const shown = rows.slice(0, limit);
  const sent = shown.map((row) => {
    const fields = Object.entries(COLUMNS).map(([column, field]) => [field, row[column]]);
    return Object.fromEntries(fields) as unknown as SentAlert;
  });
  return { sent, next: rows.length > limit ? (shown.at(-1)?.number ?? null) : null };
}
