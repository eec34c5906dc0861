import { eventLink } from '../message/event-link.ts';
import type { Notice } from '../message/notification.ts';
import { oneLine } from '../message/plain-text.ts';
import { subjectOf } from '../message/template-fields.ts';
import { type Worded, wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { AlertmanagerTarget, ReceiverSettings } from '../routes/alert-route.ts';
import { postAlert } from './http-receiver.ts';
import { ACCEPTED, type Receiver } from './receiver.ts';

const ALERTS_PATH = '/api/v2/alerts';
/** An alert that is not sent again for so long counts as resolved, as with Prometheus: four intervals. */
export const ALERT_LIFE_MS = 4 * 60_000;

/**
 * Alertmanager, API v2. It forgets: what is open is sent again every minute, so that it outlives a restart of
 * Alertmanager, and ends by itself where this service is gone for good.
 */
export function createAlertmanager(
  { name, wording, timeoutMs }: ReceiverSettings,
  { url, authorization }: AlertmanagerTarget,
  poster: HttpPoster,
): Receiver {
  return {
    name,
    forgets: true,
    async send(notification, signal) {
      const { notices } = notification;
      const headers = authorization === null ? {} : { authorization };
      // An event that opened and closed within one message: Alertmanager keeps the later of two posts.
      for (const part of [notices.filter(isOpen), notices.filter((notice) => !isOpen(notice))]) {
        if (part.length === 0) continue;
        const nowMs = Date.now();
        const alerts = part.map((notice) => {
          const words = wordsOf(wording, { ...notification, notices: [notice] });
          return postableAlert(notice, { ...words, link: eventLink(wording.consoleUrl, notice.event) }, nowMs);
        });
        const body = JSON.stringify(alerts);
        const outcome = await postAlert({ poster, url: url + ALERTS_PATH, headers, body, timeoutMs, signal });
        if (outcome.kind !== 'accepted') return outcome;
      }
      return ACCEPTED;
    },
    close: () => {},
  };
}

const isOpen = ({ type }: Notice) => type !== 'closed';

/**
 * One alert. Its labels are its identity, so they never change during an event: kind and severity are those of its
 * first message.
 */
export function postableAlert(
  { type, event, opening }: Notice,
  { title, text, link }: Worded & { readonly link: string | null },
  nowMs: number,
) {
  const { eventId, detector, series, group, labels: own, summary, unusual } = event;
  const labels: Record<string, string> = {};
  for (const [label, value] of Object.entries(own)) put(labels, labelName(label), value);
  put(labels, 'alertname', 'Anomaly');
  put(labels, 'detector', detector);
  put(labels, 'series', series ?? '');
  put(labels, 'group', group ?? '');
  put(labels, 'kind', opening.kind);
  put(labels, 'severity', opening.urgency);
  put(labels, 'event_id', eventId);
  const annotations: Record<string, string> = {};
  put(annotations, 'title', title);
  put(annotations, 'summary', `${subjectOf(event)}: ${summary}`);
  put(annotations, 'unusual', unusual ?? '');
  annotations.description = text;
  return {
    labels,
    annotations,
    // The time of an event may lie ahead of the clock; an alert must not begin after its end.
    startsAt: new Date(Math.min(event.startedAtMs, nowMs)).toISOString(),
    ...(link !== null && { generatorURL: link }),
    endsAt: new Date(type === 'closed' ? nowMs : nowMs + ALERT_LIFE_MS).toISOString(),
  };
}

/** Alertmanager drops labels without a value. */
function put(labels: Record<string, string>, name: string, value: string): void {
  const clean = oneLine(value).trim();
  if (clean !== '') labels[name] = clean;
}

/** Letters, digits and underscores, as in every version of Alertmanager. */
function labelName(name: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_]/g, '_');
  return /^\d/.test(clean) ? `_${clean}` : clean;
}
