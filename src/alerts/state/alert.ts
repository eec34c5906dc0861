import type { AnomalyEvent, EventType } from '../../record/anomaly-event.ts';
import type { Opening } from '../message/notification.ts';

/** One event on one route, from the first revision that matches to its last message. */
export interface Alert {
  readonly route: string;
  /** The newest revision. */
  readonly event: AnomalyEvent;
  /** As what it was first sent; null while it waits for a mute window, a cool-down or its group. */
  readonly opening: Opening | null;
  /** When it was first sent. */
  readonly toldAtMs: number | null;
  /** Receivers that were notified that it is open: each is notified that it closes. */
  readonly toldTo: readonly string[];
  /** Steps of escalation that were taken. */
  readonly escalated: number;
  /** Types of the next message of its group. */
  readonly waiting: readonly EventType[];
  /** Key of its group; null where each event has messages of its own. */
  readonly group: string | null;
}

/** A message that is being collected. */
export interface AlertGroup {
  readonly route: string;
  /** Values of the fields of `group_by`. */
  readonly fields: string;
  readonly flushAtMs: number;
}

/** Why an event was not sent at once, or not at all. */
export type Suppression =
  /** Within a mute window. */
  | 'muted'
  | 'cool-down'
  /** Older than the age limit. */
  | 'age'
  /** As many alerts are open as are kept. */
  | 'full'
  /** Larger than what is kept of an event. */
  | 'too-large';

/** Members of a group that are kept and sent: those with the largest shares. */
const MEMBERS_MAX = 20;
/** Most of an event that is kept, as JSON. A record of Kafka must hold it with the rest of the notice. */
const EVENT_CHARACTERS_MAX = 64 * 1024;

/** What is kept of an event; null where it is too large. */
export function keptEvent(event: AnomalyEvent): AnomalyEvent | null {
  const kept = event.members.length > MEMBERS_MAX ? { ...event, members: event.members.slice(0, MEMBERS_MAX) } : event;
  return JSON.stringify(kept).length <= EVENT_CHARACTERS_MAX ? kept : null;
}

export function openingAlert(route: string, event: AnomalyEvent): Alert {
  return { route, event, opening: null, toldAtMs: null, toldTo: [], escalated: 0, waiting: [], group: null };
}

/** It was neither sent nor put into a message: it waits for the end of a mute window or a cool-down. */
export function isHeld({ toldAtMs, waiting }: Alert): boolean {
  return toldAtMs === null && waiting.length === 0;
}

export function alertKey(route: string, { eventId }: AnomalyEvent): string {
  return `${route}/${eventId}`;
}

/** A route is silent about a series (or group) of a detector. */
export function coolDownKey({ route, event: { detector, series, group } }: Alert): string {
  return JSON.stringify([route, detector, group, series]);
}

/** The event as it was before it closed. */
export function asOpen(event: AnomalyEvent): AnomalyEvent {
  return event.type === 'closed' ? { ...event, type: 'updated', endedAtMs: null, closeReason: null } : event;
}

/** The order of events in a message: by their start, and the same after a restart. */
export function inOrder(one: AnomalyEvent | undefined, other: AnomalyEvent | undefined): number {
  const [oneMs, otherMs] = [one?.startedAtMs ?? 0, other?.startedAtMs ?? 0];
  return oneMs - otherMs || ((one?.eventId ?? '') < (other?.eventId ?? '') ? -1 : 1);
}
