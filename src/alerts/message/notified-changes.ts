import { CHANGES_NOTIFIED_MAX } from '../../records/changes/change-limits.ts';
import type { Deployments } from '../../records/changes/deployments.ts';
import { changeText } from '../../records/deployment.ts';
import type { Notification } from './notification.ts';
import type { Subject } from './subject.ts';

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
