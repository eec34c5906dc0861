import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';

/** What is kept and sent of an incident: its newest revision, with what its events have in common. */
export interface NotifiedIncident extends Incident {
  /** The first ones of all that it has. */
  readonly events: Incident['events'];
  /** Labels of detectors and of series that are the same in each of its events. */
  readonly labels: Readonly<Record<string, string>>;
  readonly seriesLabels: Readonly<Record<string, string>>;
}

/** What an alert and its messages are about: an event, or an incident with all of its events. */
export type Subject = { readonly event: AnomalyEvent } | { readonly incident: NotifiedIncident };

/** What something is about, without the rest of it. */
export function subjectOf(subject: Subject): Subject {
  return 'event' in subject ? { event: subject.event } : { incident: subject.incident };
}

/** Its newest revision. */
export function recordOf(subject: Subject): AnomalyEvent | NotifiedIncident {
  return 'event' in subject ? subject.event : subject.incident;
}

/**
 * The key that every message about it has in every channel. An incident has the id of the event that it began with, and
 * a receiver may be notified of both.
 */
export function dedupKeyOf(subject: Subject): string {
  return 'event' in subject ? subject.event.eventId : incidentKey(subject.incident.incidentId);
}

function incidentKey(incidentId: string): string {
  return `incident-${incidentId}`;
}

/** It is closed, or part of another incident. */
export function hasEnded(subject: Subject): boolean {
  const { type } = recordOf(subject);
  return type === 'closed' || type === 'merged';
}

/** As it was before it ended. */
export function asOpen(subject: Subject): Subject {
  if (!hasEnded(subject)) return subject;
  const open = { type: 'updated', endedAtMs: null } as const;
  return 'event' in subject
    ? { event: { ...subject.event, ...open, closeReason: null } }
    : { incident: { ...subject.incident, ...open, mergedInto: null } };
}

/** What a link offers on the page of its event. It does nothing by itself: programs open links, too. */
type OfferedAct = 'acknowledge' | 'mute';

/** The page of an event, which offers an act to those who are signed in; null for an incident. */
export function actLink(consoleUrl: string | null, subject: Subject, act: OfferedAct): string | null {
  const link = 'event' in subject ? consoleLink(consoleUrl, subject) : null;
  return link === null ? null : `${link}?do=${act}`;
}

/** The page in the console; null where the routes file has no address of the console. */
export function consoleLink(consoleUrl: string | null, subject: Subject): string | null {
  if (consoleUrl === null) return null;
  const [page, id] =
    'event' in subject ? ['events', subject.event.eventId] : ['incidents', subject.incident.incidentId];
  return `${consoleUrl}#/${page}/${encodeURIComponent(id.toWellFormed())}`;
}
