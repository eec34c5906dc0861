import { eventUrgency } from '../../records/urgency.ts';
import type { Notice, Notification } from '../message/notification.ts';
import { cut, oneLine, oneLineWithEnds } from '../message/plain-text.ts';
import { consoleLink, dedupKeyOf, recordOf } from '../message/subject.ts';
import { originText, placeOf } from '../message/template-fields.ts';
import { wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, TargetOf } from '../routes/receiver-schema.ts';
import { ACCEPTED, postAlert, type Send } from './receiver.ts';

const SUMMARY_CHARACTERS_MAX = 1_024;
const SOURCE_CHARACTERS_MAX = 255;
const KEY_CHARACTERS_MAX = 255;
const ORIGINS_SENT_MAX = 3;

/**
 * PagerDuty Events API v2. An incident of PagerDuty is one event or one incident, so a message of several becomes
 * several requests.
 */
export function sendToPagerDuty(
  { wording, timeoutMs }: ReceiverSettings,
  { url, routingKey }: TargetOf<'pagerduty'>,
  poster: HttpPoster,
): Send {
  return async (notification, signal) => {
    for (const notice of notification.notices) {
      const { title } = wordsOf(wording, { ...notification, notices: [notice] });
      const link = consoleLink(wording.consoleUrl, notice);
      const body = JSON.stringify(pagerDutyEvent(notice, { notification, routingKey, title, link }));
      const outcome = await postAlert({ poster, url, body, timeoutMs, signal });
      // What was accepted is sent again, too: the same key, so the same incident.
      if (outcome.kind !== 'accepted') return outcome;
    }
    return ACCEPTED;
  };
}

interface PagerDutyContext {
  readonly notification: Pick<Notification, 'route'>;
  readonly routingKey: string;
  readonly title: string;
  readonly link: string | null;
}

/** The request for one notice; every one about the same event or incident has one `dedup_key`. */
function pagerDutyEvent(notice: Notice, { notification, routingKey, title, link }: PagerDutyContext) {
  const identity = { routing_key: routingKey, dedup_key: cut(dedupKeyOf(notice), KEY_CHARACTERS_MAX) };
  if (notice.type === 'closed') return { ...identity, event_action: 'resolve' as const };
  const record = recordOf(notice);
  const { component, group, details } = 'event' in notice ? ofEvent(notice) : ofIncident(notice);
  const what = 'event' in notice ? 'event' : 'incident';
  return {
    ...identity,
    event_action: 'trigger' as const,
    client: 'tidewatch',
    ...(link !== null && { client_url: link, links: [{ href: link, text: `The ${what} in the console` }] }),
    payload: {
      summary: cut(title, SUMMARY_CHARACTERS_MAX) || record.kind,
      source: oneLineWithEnds(placeOf(notice), SOURCE_CHARACTERS_MAX) || component,
      severity: eventUrgency(record),
      timestamp: new Date(record.startedAtMs).toISOString(),
      component,
      ...(group === null ? {} : { group: oneLine(group) }),
      class: record.kind,
      custom_details: {
        summary: oneLine(record.summary),
        severity: record.severity,
        grade: record.grade,
        ...details,
        labels: record.labels,
        route: notification.route,
      },
    },
  };
}

function ofEvent({ event }: Extract<Notice, { event: unknown }>) {
  const { unusual, value, expected, alarms, detector, group } = event;
  return { component: detector, group, details: { unusual, value, expected, alarms } };
}

function ofIncident({ incident }: Extract<Notice, { incident: unknown }>) {
  const { eventCount, seriesCount, usualCount, origins, events } = incident;
  const begun = origins.slice(0, ORIGINS_SENT_MAX).map((origin) => oneLine(originText(origin)));
  return {
    component: [...new Set(events.map(({ detector }) => detector))].join(', '),
    group: null,
    details: { events: eventCount, series: seriesCount, usually: usualCount, may_have_begun_in: begun },
  };
}
