import type { HistoryReader } from '../../history/port/history-port.ts';
import { ALL_EVENTS, type FoundIncident, type KnownEvent } from '../../history/port/span-port.ts';
import type { Deployments } from '../../records/changes/deployments.ts';
import type { Incident } from '../../records/incident.ts';
import type { ReviewedEvent } from '../../store/reviews/event-reviews.ts';
import {
  countOrigins,
  type ReviewedIncident,
  type VerdictRecord,
  type WholeIncident,
} from '../../store/reviews/incident-reviews.ts';
import type { IncidentAnswer, IncidentDetailAnswer } from '../wire/schema/operations/incident-schema.ts';
import { withChanges } from './concerned.ts';
import { shownActs } from './event-answers.ts';
import { type PassedReviews, passedReviews, type ReviewSources } from './passed-reviews.ts';

export async function reviewedIncidents(
  reviewing: ReviewSources,
  incidents: readonly Incident[],
  nowMs: number,
): Promise<IncidentAnswer[]> {
  const ids = incidents.map(({ incidentId }) => incidentId);
  const passed = await passedReviews(reviewing, ids);
  return incidents.map(({ events: _, ...incident }) => ({
    ...incident,
    ...shownPassed(passed.get(incident.incidentId)!, nowMs),
  }));
}

/** An incident with its events, candidates and similar incidents. */
export async function incidentDetail(
  { incident, mergedIds, similar }: FoundIncident,
  { sql, reader, nowMs, changes }: ReviewSources & { readonly nowMs: number; readonly changes: Deployments },
): Promise<IncidentDetailAnswer> {
  const shown = await reviewedIncidents({ sql, reader }, [incident, ...similar.map((each) => each.incident)], nowMs);
  const { origins } = incident;
  const candidates = origins.map(({ series, common }) => common ?? series);
  const confirmed = await countOrigins(sql, [...new Set(candidates)]);
  return {
    ...shown[0],
    events: incident.events,
    mergedIds: [...mergedIds],
    origins: withChanges(origins, incident, changes),
    similar: similar.map(({ commonCount }, i) => ({ incident: shown[i + 1], commonSeries: commonCount })),
    confirmed: [...confirmed].map(([subject, incidents]) => ({ subject, incidents })),
  };
}

export async function shownIncidentReview(reviewing: ReviewSources, incidentId: string, nowMs: number) {
  const passed = await passedReviews(reviewing, [incidentId]);
  return { incidentId, ...shownPassed(passed.get(incidentId)!, nowMs) };
}

function shownPassed({ review, verdicts }: PassedReviews, nowMs: number) {
  return { ...shownActs(review, nowMs), verdicts: verdicts.map(shownVerdict) };
}

/** An incident with all events that the history has, as a review takes them. */
export async function reviewedIncident(
  reader: HistoryReader,
  { incidentId, mergedIds }: WholeIncident,
): Promise<ReviewedIncident> {
  const events: ReviewedEvent[] = [];
  for (let after: readonly (string | number)[] | null = null; ; ) {
    const page = await reader.listEvents({ ...ALL_EVENTS, incident: incidentId, after });
    events.push(...page.events.map(reviewedEvent));
    if (page.next === null) return { incidentId, mergedIds, events };
    after = page.next;
  }
}

export function reviewedEvent(event: KnownEvent): ReviewedEvent {
  return { eventId: event.eventId, startedAtMs: event.startedAtMs, record: JSON.stringify(event) };
}

function shownVerdict({ verdict, subject, atMs: at, by, note }: VerdictRecord) {
  return { verdict, subject, at, by, note };
}
