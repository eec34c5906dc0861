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

/** The columns that reviews of events and of incidents have. */
export interface AttentionRow {
  readonly acknowledged_at: number | null;
  readonly acknowledged_by: string;
  readonly acknowledged_note: string | null;
  readonly muted_at: number | null;
  readonly muted_by: string;
  readonly muted_until: number;
  readonly muted_reason: string;
}

interface ReviewRow extends AttentionRow {
  readonly event_id: string;
  readonly started_at: number;
  readonly record: string;
  readonly labelled_at: number | null;
  readonly labelled_by: string;
  readonly label: number;
  readonly label_note: string | null;
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
export function acknowledged(act: Acknowledgement | null): ReviewColumns {
  return {
    acknowledged_at: act?.atMs ?? null,
    acknowledged_by: act?.by ?? null,
    acknowledged_note: act?.note ?? null,
  };
}

/** @param act null ends it */
export function muted(act: EventMute | null): ReviewColumns {
  return {
    muted_at: act?.atMs ?? null,
    muted_by: act?.by ?? null,
    muted_until: act?.untilMs ?? null,
    muted_reason: act?.reason ?? null,
  };
}

/** @param act null takes it back */
export function labelled(act: EventLabel | null): ReviewColumns {
  return {
    labelled_at: act?.atMs ?? null,
    labelled_by: act?.by ?? null,
    label: act === null ? null : Number(act.real),
    label_note: act?.note ?? null,
  };
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
  const { event_id: eventId, started_at: startedAtMs, record, labelled_at: atMs, labelled_by: by } = row;
  const label = atMs === null ? null : { atMs, by, real: row.label === 1, note: row.label_note };
  return { eventId, startedAtMs, record, ...attentionOf(row), label };
}

export function attentionOf(row: AttentionRow): Pick<EventReviewRecord, 'acknowledged' | 'muted'> {
  const { acknowledged_at: acknowledgedAt, muted_at: mutedAt } = row;
  return {
    acknowledged:
      acknowledgedAt === null ? null : { atMs: acknowledgedAt, by: row.acknowledged_by, note: row.acknowledged_note },
    muted:
      mutedAt === null ? null : { atMs: mutedAt, by: row.muted_by, untilMs: row.muted_until, reason: row.muted_reason },
  };
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
