import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { Sql } from '../../store/database.ts';
import { type EventReviewRecord, reviewsOf } from '../../store/event-reviews.ts';
import type { EventAnswer } from '../wire/schema/event-schema.ts';
import { shownEvent } from './shown-records.ts';

/** Events with their reviews by people. */
export async function reviewedEvents(sql: Sql, events: readonly AnomalyEvent[], nowMs: number): Promise<EventAnswer[]> {
  const ids = events.map(({ eventId }) => eventId);
  const reviews = await reviewsOf(sql, ids);
  return events.map((event) => ({ ...shownEvent(event), ...shownReview(reviews.get(event.eventId) ?? null, nowMs) }));
}

/** The review of an event by people. A mute that has ended is not shown. */
export function shownReview(review: EventReviewRecord | null, nowMs: number) {
  const { acknowledged = null, muted = null, label = null } = review ?? {};
  return {
    acknowledged: acknowledged && { at: acknowledged.atMs, by: acknowledged.by, note: acknowledged.note },
    muted:
      muted !== null && muted.untilMs > nowMs
        ? { at: muted.atMs, by: muted.by, until: muted.untilMs, reason: muted.reason }
        : null,
    label: label && { at: label.atMs, by: label.by, real: label.real, note: label.note },
  };
}

const LABEL_COLUMNS = [
  'event_id',
  'series_id',
  'group_id',
  'detector',
  'kind',
  'direction',
  'started_at',
  'peak_at',
  'ended_at',
  'severity',
] as const;

/** Labels as CSV: one row an event. `real` is 1 or 0. */
export function* labelRows(reviews: readonly EventReviewRecord[]): Generator<string> {
  yield `${[...LABEL_COLUMNS, 'real', 'labelled_at', 'labelled_by', 'note'].join(',')}\r\n`;
  for (const { record, label } of reviews) {
    if (label === null) continue;
    const event = shownEvent(JSON.parse(record) as AnomalyEvent);
    const review = [Number(label.real), label.atMs, label.by, label.note];
    yield `${[...LABEL_COLUMNS.map((name) => event[name]), ...review].map(csvField).join(',')}\r\n`;
  }
}

/** Spreadsheets run texts that begin like a formula: those get an apostrophe. */
function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
