import type { KeptFields } from '../../history/port/history-port.ts';
import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { Incident } from '../../record/incident.ts';
import type { EventAnswer, UnreviewedEvent } from '../wire/schema/event-schema.ts';
import type { SeriesNow } from '../wire/schema/history-schema.ts';
import type { IncidentAnswer, UnreviewedIncident } from '../wire/schema/incident-schema.ts';

/** An event by the names of its record, and by the earlier names of HTTP. */
export function shownEvent(event: AnomalyEvent): UnreviewedEvent {
  const { eventId, series, group, startedAtMs, peakAtMs, updatedAtMs, endedAtMs, closeReason } = event;
  // Events that were kept by earlier versions have none.
  const seriesCount = event.seriesCount ?? null;
  const seriesLabels = { ...event.seriesLabels };
  return {
    ...event,
    seriesCount,
    seriesLabels,
    members: event.members.map((member) => ({ ...member, series_id: member.series })),
    labels: { ...event.labels },
    unit: event.unit ?? null,
    recoveringSinceMs: event.recoveringSinceMs ?? null,
    event_id: eventId,
    series_id: series,
    group_id: group,
    started_at: startedAtMs,
    peak_at: peakAtMs,
    updated_at: updatedAtMs,
    ended_at: endedAtMs,
    close_reason: closeReason,
    series_count: seriesCount,
    series_labels: seriesLabels,
  };
}

/** What others say of an event, where nobody does. */
export const NO_REVIEW: Pick<EventAnswer, 'acknowledged' | 'muted' | 'label' | 'incidentId'> = {
  incidentId: null,
  acknowledged: null,
  muted: null,
  label: null,
};

/** A revision of an incident with the events that have joined. */
export function shownIncident(incident: Incident): UnreviewedIncident {
  const { events, origins, openedOrigins } = incident;
  return {
    ...incident,
    events: shownMembers(events),
    origins: shownOrigins(origins),
    openedOrigins: shownOrigins(openedOrigins),
  };
}

export function shownMembers(events: Incident['events']): UnreviewedIncident['events'] {
  return events.map((event) => ({ ...event, labels: { ...event.labels }, seriesLabels: { ...event.seriesLabels } }));
}

export function shownOrigins(origins: Incident['origins']): IncidentAnswer['origins'] {
  return origins.map((origin) => ({ ...origin, evidence: [...origin.evidence] }));
}

/** A score by the names of its record, and by the earlier names of HTTP. */
export function shownSeries(score: KeptFields): SeriesNow {
  const { series, detector, group, timestampMs, value, forecast, lo, hi, anomalyScore, ...same } = score;
  const { grade, severity, alarm, anomaly, state } = same;
  const judged = { value, forecast, lo, hi, anomalyScore, grade, severity, alarm, anomaly, state };
  const earlier = { id: series, timestamp: timestampMs, anomaly_score: anomalyScore };
  return { series, detector, group, timestampMs, ...judged, ...earlier };
}
