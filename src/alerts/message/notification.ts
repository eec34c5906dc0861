import { createHash } from 'node:crypto';
import type { EventType } from '../../records/anomaly-event.ts';
import { CHANGES_NOTIFIED_MAX } from '../../records/changes/change-limits.ts';
import { changeText } from '../../records/changes/deployment.ts';
import type { Deployments } from '../../records/changes/deployments.ts';
import { eventUrgency, type Urgency } from '../../records/urgency.ts';
import { dedupKeyOf, recordOf, type Subject } from './subject.ts';

export type Notice = Subject & {
  /** A merged incident is closed. */
  readonly type: EventType;
  /** As it was first sent. Alertmanager identifies an alert by fields that must not change. */
  readonly opening: Opening;
  /** Time at which the end was decided, by the clock of this service; absent while it is open. */
  readonly closedAtMs?: number;
  /** Deployments shortly before, in words; absent if they are not read. */
  readonly changes?: string;
};

export interface Opening {
  readonly kind: string;
  readonly urgency: Urgency;
  /** Labels that all events of an incident had; absent of an event, whose labels do not change. */
  readonly labels?: Readonly<Record<string, string>>;
}

export function openingOf(subject: Subject): Opening {
  const record = recordOf(subject);
  const opening = { kind: record.kind, urgency: eventUrgency(record) };
  return 'event' in subject
    ? opening
    : { ...opening, labels: { ...subject.incident.seriesLabels, ...subject.incident.labels } };
}

/** One message to one receiver. It is kept until the receiver has accepted it, or it is a dead letter. */
export interface Notification {
  /** Digest of content and receiver: a notification that is sent again has the same id. */
  readonly id: string;
  readonly receiver: string;
  readonly route: string;
  /** Fields that the events share, such as `detector=load`; null if each has messages of its own. */
  readonly group: string | null;
  /** In the order in which they happened. */
  readonly notices: readonly Notice[];
  readonly createdAtMs: number;
  /** Addresses of a mail that have not accepted it yet; absent until one of several has. */
  readonly to?: readonly string[];
}

export interface AlertDeath {
  readonly reason: DeadAlertReason;
  /** One sentence, without secrets. */
  readonly detail: string;
}

export interface AlertDeadLetter extends AlertDeath {
  readonly notification: Notification;
  readonly atMs: number;
}

type DeadAlertReason =
  /** The receiver answered that a repetition does not help. */
  | 'refused'
  /** The address of the receiver is private and not allowed by name. */
  | 'address-refused'
  /** It failed for longer than `retry_for`. */
  | 'expired'
  /** Too many notifications wait for the receiver. */
  | 'queue-full'
  /** The routes file does not have the receiver any more. */
  | 'receiver-removed';

export function identify(notification: Omit<Notification, 'id'>): Notification {
  const { receiver, route, group, notices } = notification;
  const revisions = notices.map((notice) => [notice.type, dedupKeyOf(notice), recordOf(notice).revision]);
  const canonical = JSON.stringify([receiver, route, group, revisions]);
  return { id: createHash('sha256').update(canonical).digest('hex').slice(0, 32), ...notification };
}

/** Returns the most urgent type: opened, updated, closed. */
export function typeOf({ notices }: Pick<Notification, 'notices'>): EventType {
  const types = new Set(notices.map(({ type }) => type));
  if (types.has('opened')) return 'opened';
  return types.has('updated') ? 'updated' : 'closed';
}

/** Adds the deployments before each event and incident, as known when the message is queued. */
export function withDeployments(notification: Notification, changes: Deployments): Notification {
  const notices = notification.notices.map((notice) => ({ ...notice, changes: changesText(notice, changes) }));
  return { ...notification, notices };
}

/** `12 min after deploy web 4.2 (https://...); 1 h after ...`, the latest first; empty without any. */
function changesText(subject: Subject, changes: Deployments): string {
  const found =
    'event' in subject
      ? changes.before([subject.event], subject.event.startedAtMs, subject.event.firstAlarmAtMs)
      : changes.before(subject.incident.events, subject.incident.startedAtMs);
  const { startedAtMs } = 'event' in subject ? subject.event : subject.incident;
  return found
    .slice(0, CHANGES_NOTIFIED_MAX)
    .map((change) => `${changeText(change, startedAtMs)}${change.link === null ? '' : ` (${change.link})`}`)
    .join('; ');
}
