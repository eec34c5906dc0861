import { eventUrgency } from '../../record/urgency.ts';
import { eventLink } from '../message/event-link.ts';
import type { Notice, Notification } from '../message/notification.ts';
import { cut, oneLine } from '../message/plain-text.ts';
import { subjectOf } from '../message/template-fields.ts';
import { wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { PagerDutyTarget, ReceiverSettings } from '../routes/alert-route.ts';
import { postAlert } from './http-receiver.ts';
import { ACCEPTED, type Receiver } from './receiver.ts';

/** Limit of PagerDuty. */
const SUMMARY_CHARACTERS_MAX = 1_024;
const SOURCE_CHARACTERS_MAX = 255;
const KEY_CHARACTERS_MAX = 255;

/** PagerDuty Events API v2. An incident of PagerDuty is one event, so a message of several becomes several requests. */
export function createPagerDuty(
  { name, wording, timeoutMs }: ReceiverSettings,
  { url, routingKey }: PagerDutyTarget,
  poster: HttpPoster,
): Receiver {
  return {
    name,
    forgets: false,
    async send(notification, signal) {
      for (const notice of notification.notices) {
        const { title } = wordsOf(wording, { ...notification, notices: [notice] });
        const body = JSON.stringify(
          pagerDutyEvent(notice, {
            notification,
            routingKey,
            title,
            link: eventLink(wording.consoleUrl, notice.event),
          }),
        );
        const outcome = await postAlert({ poster, url, body, timeoutMs, signal });
        // What was accepted is sent again, too: the same key, so the same incident.
        if (outcome.kind !== 'accepted') return outcome;
      }
      return ACCEPTED;
    },
    close: () => {},
  };
}

export interface PagerDutyContext {
  readonly notification: Pick<Notification, 'route' | 'escalatedAfterMinutes'>;
  readonly routingKey: string;
  readonly title: string;
  /** The page of the event. */
  readonly link: string | null;
}

/** The request for one event; `dedup_key` is its id, so that a repetition and the end find the same incident. */
function pagerDutyEvent({ type, event }: Notice, { notification, routingKey, title, link }: PagerDutyContext) {
  const identity = { routing_key: routingKey, dedup_key: cut(event.eventId, KEY_CHARACTERS_MAX) };
  if (type === 'closed') return { ...identity, event_action: 'resolve' as const };
  const subject = subjectOf(event);
  const { startedAtMs, kind, detector, group, labels } = event;
  return {
    ...identity,
    event_action: 'trigger' as const,
    client: 'tidewatch',
    ...(link !== null && { client_url: link, links: [{ href: link, text: 'The event in the console' }] }),
    payload: {
      summary: cut(title, SUMMARY_CHARACTERS_MAX) || kind,
      source: oneLine(subject, SOURCE_CHARACTERS_MAX) || detector,
      severity: eventUrgency(event),
      timestamp: new Date(startedAtMs).toISOString(),
      component: detector,
      ...(group === null ? {} : { group: oneLine(group) }),
      class: kind,
      custom_details: {
        summary: oneLine(event.summary),
        unusual: event.unusual,
        value: event.value,
        expected: event.expected,
        severity: event.severity,
        grade: event.grade,
        alarms: event.alarms,
        labels,
        route: notification.route,
        still_open_after_minutes: notification.escalatedAfterMinutes,
      },
    },
  };
}
