import type { KeptFields } from '../../history/port/history-port.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';
import type { EventAnswer, UnreviewedEvent } from '../wire/schema/operations/event-schema.ts';
import type { SeriesNow } from '../wire/schema/operations/history-schema.ts';
import type { IncidentAnswer, UnreviewedIncident } from '../wire/schema/operations/incident-schema.ts';

/** An event by the names of its record. Those that were kept by earlier versions lack some fields. */
export function shownEvent(event: AnomalyEvent): UnreviewedEvent {
  return {
    ...event,
    seriesCount: event.seriesCount ?? null,
    seriesLabels: { ...event.seriesLabels },
    members: [...event.members],
    labels: { ...event.labels },
    unit: event.unit ?? null,
  };
}

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

/** A score by the names of its record. */
export function shownSeries(score: KeptFields): SeriesNow {
  const { series, detector, group, timestampMs, value, forecast, lo, hi, anomalyScore, ...same } = score;
  const { grade, severity, alarm, anomaly, state } = same;
  const judged = { value, forecast, lo, hi, anomalyScore, grade, severity, alarm, anomaly, state };
  return { series, detector, group, timestampMs, ...judged };
}
