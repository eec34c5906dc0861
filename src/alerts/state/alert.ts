import type { AnomalyEvent, EventType } from '../../records/anomaly-event.ts';
import type { Opening } from '../message/notification.ts';
import { dedupKeyOf, recordOf, type Subject, type ToldIncident } from '../message/subject.ts';

/** The newest revision of one event or incident on one route, from the first one that matches to its last message. */
export type Alert = Subject & AlertProgress;

interface AlertProgress {
  readonly route: string;
  /** As what it was first sent; null while it waits for a mute window, a cool-down or its group. */
  readonly opening: Opening | null;
  /** When it was first sent. */
  readonly toldAtMs: number | null;
  /** Receivers that were notified that it is open: each is notified that it ends. */
  readonly toldTo: readonly string[];
  /** Types of the next message of its group. */
  readonly waiting: readonly EventType[];
  /** Key of its group; null where it has messages of its own at once. */
  readonly group: string | null;
}

/** A message that is being collected. */
export interface AlertGroup {
  readonly route: string;
  /** Values of the fields of `group_by`; null where the group is an incident. */
  readonly fields: string | null;
  readonly flushAtMs: number;
}

/** Why an event or incident was not sent at once, or not at all. */
export type Suppression =
  /** Within a mute window. */
  | 'muted'
  | 'cool-down'
  /** Older than the age limit. */
  | 'age'
  /** As many alerts are open as are kept. */
  | 'full'
  /** Larger than what is kept of one. */
  | 'too-large';

/** Members of a group that are kept and sent: those with the largest shares. */
const MEMBERS_MAX = 20;
/** Most of an event or incident that is kept, as JSON. A record of Kafka must hold it with the rest of the notice. */
const SUBJECT_CHARACTERS_MAX = 64 * 1024;

/** What is kept of it; null where it is too large. */
export function keptSubject(subject: Subject): Subject | null {
  const kept = 'event' in subject ? { event: keptEvent(subject.event) } : { incident: keptIncident(subject.incident) };
  return JSON.stringify(kept).length <= SUBJECT_CHARACTERS_MAX ? kept : null;
}

function keptEvent(event: AnomalyEvent): AnomalyEvent {
  return event.members.length > MEMBERS_MAX ? { ...event, members: event.members.slice(0, MEMBERS_MAX) } : event;
}

/** Its first events as far as there is room. */
function keptIncident(incident: ToldIncident): ToldIncident {
  let characters = JSON.stringify({ ...incident, events: [] }).length;
  const events = incident.events.filter((event) => {
    characters += JSON.stringify(event).length + 1;
    return characters <= SUBJECT_CHARACTERS_MAX;
  });
  return { ...incident, events };
}

export function openingAlert(route: string, subject: Subject): Alert {
  return { route, ...subject, opening: null, toldAtMs: null, toldTo: [], waiting: [], group: null };
}

/** It was neither sent nor put into a message: it waits for the end of a mute window or a cool-down. */
export function isHeld({ toldAtMs, waiting }: Alert): boolean {
  return toldAtMs === null && waiting.length === 0;
}

export function alertKey(route: string, subject: Subject): string {
  return `${route}/${dedupKeyOf(subject)}`;
}

/** A route is silent about a series (or group) of a detector; null of an incident. */
export function coolDownKey(alert: Alert): string | null {
  if (!('event' in alert)) return null;
  const { detector, group, series } = alert.event;
  return JSON.stringify([alert.route, detector, group, series]);
}

/** The order in a message: by their start, and the same after a restart. */
export function inOrder(one: Subject | undefined, other: Subject | undefined): number {
  if (one === undefined || other === undefined) return 0;
  const apartMs = recordOf(one).startedAtMs - recordOf(other).startedAtMs;
  return apartMs || (dedupKeyOf(one) < dedupKeyOf(other) ? -1 : 1);
}
