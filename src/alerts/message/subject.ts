import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';

/** Newest revision of an incident with the labels that its events share, as it is stored and sent. */
export interface NotifiedIncident extends Incident {
  /** The first ones of all that it has. */
  readonly events: Incident['events'];
  /** Labels of detectors and of series that are the same in each of its events. */
  readonly labels: Readonly<Record<string, string>>;
  readonly seriesLabels: Readonly<Record<string, string>>;
}

/** Subject of an alert and its messages: an event, or an incident with all of its events. */
export type Subject = { readonly event: AnomalyEvent } | { readonly incident: NotifiedIncident };

export function subjectOf(subject: Subject): Subject {
  return 'event' in subject ? { event: subject.event } : { incident: subject.incident };
}

export function recordOf(subject: Subject): AnomalyEvent | NotifiedIncident {
  return 'event' in subject ? subject.event : subject.incident;
}

/**
 * Returns the key of every message about it, in every channel. An incident has the id of its first event, and a
 * receiver may be notified of both.
 */
export function dedupKeyOf(subject: Subject): string {
  return 'event' in subject ? subject.event.eventId : `incident-${subject.incident.incidentId}`;
}

/** True if it is closed, or merged into another incident. */
export function hasEnded(subject: Subject): boolean {
  const { type } = recordOf(subject);
  return type === 'closed' || type === 'merged';
}

/** Returns it as it was before its end. */
export function asOpen(subject: Subject): Subject {
  if (!hasEnded(subject)) return subject;
  const open = { type: 'updated', endedAtMs: null } as const;
  return 'event' in subject
    ? { event: { ...subject.event, ...open, closeReason: null } }
    : { incident: { ...subject.incident, ...open, mergedInto: null } };
}

/** Act that a link offers on the page of an event. Opening it does nothing, because programs open links, too. */
type OfferedAct = 'acknowledge' | 'mute';

/** Returns the page of an event that offers an act; null for an incident. */
export function actLink(consoleUrl: string | null, subject: Subject, act: OfferedAct): string | null {
  const link = 'event' in subject ? consoleLink(consoleUrl, subject) : null;
  return link === null ? null : `${link}?do=${act}`;
}

/** Returns the page in the console; null if the routes file has no address of the console. */
export function consoleLink(consoleUrl: string | null, subject: Subject): string | null {
  if (consoleUrl === null) return null;
  const [page, id] =
    'event' in subject ? ['events', subject.event.eventId] : ['incidents', subject.incident.incidentId];
  return `${consoleUrl}#/${page}/${encodeURIComponent(id.toWellFormed())}`;
}
