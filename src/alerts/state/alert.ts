import type { AnomalyEvent, EventType } from '../../records/anomaly-event.ts';
import type { Opening } from '../message/notification.ts';
import { dedupKeyOf, type NotifiedIncident, recordOf, type Subject } from '../message/subject.ts';

/** The newest revision of one event or incident on one route, from the first one that matches to its last message. */
export type Alert = Subject & AlertProgress;

interface AlertProgress {
  readonly route: string;
  /** As it was first sent; null while it waits for a mute window, a cool-down or its group. */
  readonly opening: Opening | null;
  readonly notifiedAtMs: number | null;
  /** Receivers of the first message. They are notified of the end, too. */
  readonly notifiedReceivers: readonly string[];
  /** Types of the next message of its group. */
  readonly waiting: readonly EventType[];
  /** Key of its group; null if it has messages of its own. */
  readonly group: string | null;
}

/** A message that is being collected. */
export interface AlertGroup {
  readonly route: string;
  /** Values of the fields of `group_by`; null if the group is an incident. */
  readonly fields: string | null;
  readonly flushAtMs: number;
}

/** Reasons why an event or incident was not sent, or not at once. */
export type Suppression =
  | 'muted'
  | 'cool-down'
  | 'age'
  | 'full'
  /** Part of another incident before it was sent. */
  | 'merged'
  /** Larger than the limit of one alert. */
  | 'too-large';

/** Most members of a group that are stored and sent, by their share. */
const MEMBERS_MAX = 20;
/** Longest event or incident as JSON. A record of Kafka must hold it with the rest of the notice. */
const SUBJECT_CHARACTERS_MAX = 64 * 1024;

/** Returns the stored part of a subject; null if it is too large. */
export function keptSubject(subject: Subject): Subject | null {
  const kept = 'event' in subject ? { event: keptEvent(subject.event) } : { incident: keptIncident(subject.incident) };
  return JSON.stringify(kept).length <= SUBJECT_CHARACTERS_MAX ? kept : null;
}

function keptEvent(event: AnomalyEvent): AnomalyEvent {
  return event.members.length > MEMBERS_MAX ? { ...event, members: event.members.slice(0, MEMBERS_MAX) } : event;
}

/** Keeps the first events that fit. */
function keptIncident(incident: NotifiedIncident): NotifiedIncident {
  let characters = JSON.stringify({ ...incident, events: [] }).length;
  const events = incident.events.filter((event) => {
    characters += JSON.stringify(event).length + 1;
    return characters <= SUBJECT_CHARACTERS_MAX;
  });
  return { ...incident, events };
}

/** Returns an alert as it is now, also of formats 1 and 2. */
export function currentAlert(
  alert: Alert & { readonly toldAtMs?: number; readonly toldTo?: readonly string[] },
): Alert {
  const { toldAtMs: notifiedAtMs = null, toldTo: notifiedReceivers, ...rest } = alert;
  return notifiedReceivers === undefined ? alert : { ...rest, notifiedAtMs, notifiedReceivers };
}

export function openingAlert(route: string, subject: Subject): Alert {
  return { route, ...subject, opening: null, notifiedAtMs: null, notifiedReceivers: [], waiting: [], group: null };
}

/** True if it waits for the end of a mute window or a cool-down. */
export function isHeld({ notifiedAtMs, waiting }: Alert): boolean {
  return notifiedAtMs === null && waiting.length === 0;
}

export function alertKey(route: string, subject: Subject): string {
  return `${route}/${dedupKeyOf(subject)}`;
}

/** Returns the key of a cool-down: a series or group of a detector on a route; null for an incident. */
export function coolDownKey(alert: Alert): string | null {
  if (!('event' in alert)) return null;
  const { detector, group, series } = alert.event;
  return JSON.stringify([alert.route, detector, group, series]);
}

/** Compares for the order in a message: by start, and the same after a restart. */
export function inOrder(one: Subject | undefined, other: Subject | undefined): number {
  if (one === undefined || other === undefined) return 0;
  const apartMs = recordOf(one).startedAtMs - recordOf(other).startedAtMs;
  return apartMs || (dedupKeyOf(one) < dedupKeyOf(other) ? -1 : 1);
}
