import type { KnownEvent } from '../../history/port/span-port.ts';
import { type AnomalyEvent, withEventDefaults } from '../../records/anomaly-event.ts';
import { mutingOf } from '../../records/series/muted-series.ts';
import { spreadsheetField } from '../../records/text/csv-field.ts';
import { type EventReviewRecord, reviewsOf } from '../../store/reviews/event-reviews.ts';
import type { IncidentReviewRecord } from '../../store/reviews/incident-reviews.ts';
import { holdingMutes } from '../../store/reviews/mutes.ts';
import type { EventAnswer } from '../wire/schema/operations/event-schema.ts';
import { passedReviews, type ReviewSources } from './passed-reviews.ts';

/**
 * Events with their reviews by people; where they have none with those of their incidents, and with mutes of their
 * series and detectors.
 */
export async function reviewedEvents(
  reviewing: ReviewSources,
  events: readonly KnownEvent[],
  nowMs: number,
): Promise<EventAnswer[]> {
  const incidents = new Set(events.map(({ incidentId }) => incidentId).filter((id) => id !== null));
  const [reviews, ofIncidents] = [
    await reviewsOf(
      reviewing.sql,
      events.map(({ eventId }) => eventId),
    ),
    await passedReviews(reviewing, [...incidents]),
  ];
  const muting = events.length === 0 ? () => undefined : mutingOf(await holdingMutes(reviewing.sql, nowMs));
  return events.map((event) => {
    const { eventId, incidentId } = event;
    const own = shownReview(reviews.get(eventId) ?? null, nowMs);
    const { acknowledged, muted } = shownActs(ofIncidents.get(incidentId ?? '')?.review ?? null, nowMs);
    const standing = muting(event, nowMs) ?? null;
    const shownMute = own.muted ?? ofEvent(muted) ?? ofEvent(shownMuted(standing, nowMs), standing?.id);
    const review = { ...own, acknowledged: own.acknowledged ?? acknowledged, muted: shownMute };
    return { ...event, incidentId, ...review };
  });
}

export function shownReview(review: EventReviewRecord | null, nowMs: number) {
  const label = review?.label ?? null;
  const { acknowledged, muted } = shownActs(review, nowMs);
  return {
    acknowledged,
    muted: ofEvent(muted),
    label: label && { at: label.atMs, by: label.by, real: label.real, note: label.note },
  };
}

/** Who acknowledged and muted it. A mute that has ended is not shown. */
export function shownActs(review: IncidentReviewRecord | null, nowMs: number) {
  const { acknowledged = null, muted = null } = review ?? {};
  return {
    acknowledged: acknowledged && { at: acknowledged.atMs, by: acknowledged.by, note: acknowledged.note },
    muted: shownMuted(muted, nowMs),
  };
}

/** @param id that of a mute of its series or detector */
function ofEvent(muted: ReturnType<typeof shownMuted>, id: string | null = null): EventAnswer['muted'] {
  return muted && { ...muted, mute_id: id };
}

function shownMuted(muted: EventReviewRecord['muted'], nowMs: number) {
  if (muted === null || muted.untilMs <= nowMs) return null;
  return { at: muted.atMs, by: muted.by, until: muted.untilMs, reason: muted.reason };
}

const LABEL_COLUMNS = [
  'eventId',
  'series',
  'group',
  'detector',
  'kind',
  'direction',
  'startedAtMs',
  'peakAtMs',
  'endedAtMs',
  'severity',
] as const;

/** Labels as CSV: one row an event. `real` is 1 or 0. */
export function* labelRows(reviews: readonly EventReviewRecord[]): Generator<string> {
  const ofReview = ['real', 'labelled_at', 'labelled_by', 'note'];
  yield `${[...LABEL_COLUMNS, ...ofReview].join(',')}\r\n`;
  for (const { record, label } of reviews) {
    if (label === null) continue;
    const event = withEventDefaults(JSON.parse(record)) as AnomalyEvent;
    const review = [Number(label.real), label.atMs, label.by, label.note];
    const fields = LABEL_COLUMNS.map((name) => event[name]);
    yield `${[...fields, ...review].map(fieldOf).join(',')}\r\n`;
  }
}

function fieldOf(value: string | number | null): string {
  return typeof value === 'string' ? spreadsheetField(value) : String(value ?? '');
}
