import type { Sql } from '../database/database.ts';
import { marksOf, rowMarks } from '../database/marks.ts';

export interface EventReviewRecord {
  readonly eventId: string;
  readonly startedAtMs: number;
  /** The event as it was at the newest review, JSON: the history forgets, labels stay. */
  readonly record: string;
  readonly acknowledged: Acknowledgement | null;
  readonly muted: EventMute | null;
  readonly label: EventLabel | null;
}

export type ReviewedEvent = Pick<EventReviewRecord, 'eventId' | 'startedAtMs' | 'record'>;
export interface ReviewAct {
  readonly atMs: number;
  readonly by: string;
}

export interface Acknowledgement extends ReviewAct {
  readonly note: string | null;
}

interface EventMute extends ReviewAct {
  readonly untilMs: number;
  readonly reason: string;
}

interface EventLabel extends ReviewAct {
  readonly real: boolean;
  readonly note: string | null;
}

/** The columns of each part of a review, by the fields that they hold. A part without its first one is not there. */
const ACKNOWLEDGED = { atMs: 'acknowledged_at', by: 'acknowledged_by', note: 'acknowledged_note' };
const MUTED = { atMs: 'muted_at', by: 'muted_by', untilMs: 'muted_until', reason: 'muted_reason' };
const LABELLED = { atMs: 'labelled_at', by: 'labelled_by', real: 'label', note: 'label_note' };

export type AttentionRow = Readonly<Record<string, string | number | null>>;

interface ReviewRow extends AttentionRow {
  readonly event_id: string;
  readonly started_at: number;
  readonly record: string;
}

/** Reviews of these events; events without a review are absent. */
export async function reviewsOf(sql: Sql, eventIds: readonly string[]): Promise<Map<string, EventReviewRecord>> {
  if (eventIds.length === 0) return new Map();
  const rows = await sql.query<ReviewRow>(
    `SELECT * FROM event_reviews WHERE event_id IN (${marksOf(eventIds)})`,
    eventIds,
  );
  return new Map(rows.map((row) => [row.event_id, reviewOf(row)]));
}

/** Reviews with a label, by the start of their events. */
export async function labelledReviews(
  sql: Sql,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<EventReviewRecord[]> {
  const rows = await sql.query<ReviewRow>(
    `SELECT * FROM event_reviews WHERE labelled_at IS NOT NULL AND started_at >= $1 AND started_at < $2
      ORDER BY started_at, event_id`,
    [fromMs, toMs],
  );
  return rows.map(reviewOf);
}

/** Columns of a review and their new values. */
export type ReviewColumns = Readonly<Record<string, string | number | null>>;

/** @param act null takes it back */
export const acknowledged = (act: Acknowledgement | null) => columnsOf(ACKNOWLEDGED, act);
/** @param act null ends it */
export const muted = (act: EventMute | null) => columnsOf(MUTED, act);
/** @param act null takes it back */
export const labelled = (act: EventLabel | null) => columnsOf(LABELLED, act && { ...act, real: Number(act.real) });

function columnsOf<F extends string>(
  columns: Readonly<Record<F, string>>,
  act: Readonly<Record<F, string | number | null>> | null,
): ReviewColumns {
  const fields = Object.entries(columns) as [F, string][];
  return Object.fromEntries(fields.map(([field, column]) => [column, act?.[field] ?? null]));
}

/** The part of a review that these columns hold; null if it was not given, or taken back. */
function actOf<A>(columns: Readonly<Record<string, string>>, row: AttentionRow): A | null {
  if (row[columns.atMs] === null) return null;
  return Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, row[column]])) as A;
}

const ROWS_AT_ONCE = 200;

export async function reviewEvents(
  sql: Sql,
  events: readonly ReviewedEvent[],
  columns: ReviewColumns,
): Promise<EventReviewRecord[]> {
  const named = ['record', ...Object.keys(columns)];
  const reviews: EventReviewRecord[] = [];
  for (let first = 0; first < events.length; first += ROWS_AT_ONCE) {
    const rows = events.slice(first, first + ROWS_AT_ONCE).map(({ eventId, startedAtMs, record }) => {
      return [eventId, startedAtMs, record, ...Object.values(columns)];
    });
    const kept = await sql.query<ReviewRow>(
      `INSERT INTO event_reviews (event_id, started_at, ${named.join(', ')}) VALUES ${rowMarks(rows)}
        ON CONFLICT (event_id) DO UPDATE SET ${named.map((name) => `${name} = excluded.${name}`).join(', ')}
        RETURNING *`,
      rows.flat(),
    );
    reviews.push(...kept.map(reviewOf));
  }
  return reviews;
}

function reviewOf(row: ReviewRow): EventReviewRecord {
  const { event_id: eventId, started_at: startedAtMs, record } = row;
  const label = actOf<EventLabel>(LABELLED, row);
  return { eventId, startedAtMs, record, ...attentionOf(row), label: label && { ...label, real: row.label === 1 } };
}

export function attentionOf(row: AttentionRow): Pick<EventReviewRecord, 'acknowledged' | 'muted'> {
  return { acknowledged: actOf(ACKNOWLEDGED, row), muted: actOf(MUTED, row) };
}

/** Notes that a dead letter was sent again. Returns false when it was before. */
export async function noteRedriven(
  sql: Sql,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  { atMs, by }: ReviewAct,
): Promise<boolean> {
  const rows = await sql.query(
    `INSERT INTO redriven_letters (partition, letter_offset, redriven_at, redriven_by) VALUES ($1, $2, $3, $4)
      ON CONFLICT (partition, letter_offset) DO NOTHING RETURNING partition`,
    [partition, offset, atMs, by],
  );
  return rows.length > 0;
}

/** Dead letters that were sent again, as PARTITION-OFFSET. */
export async function redrivenLetters(sql: Sql): Promise<Set<string>> {
  const rows = await sql.query<{ partition: number; letter_offset: number }>(
    'SELECT partition, letter_offset FROM redriven_letters',
  );
  return new Set(rows.map(({ partition, letter_offset: offset }) => `${partition}-${offset}`));
}
