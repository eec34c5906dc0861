import { type AnomalyEvent, guidanceOf } from '../../records/anomaly-event.ts';
import { NAME_LABEL } from '../../records/series/series-id.ts';
import { eventUrgency } from '../../records/urgency.ts';
import type { Notice, Opening } from '../message/notification.ts';
import { oneLine } from '../message/plain-text.ts';
import { consoleLink, type NotifiedIncident, recordOf } from '../message/subject.ts';
import { originText, placeOf } from '../message/template-fields.ts';
import { type Worded, wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, TargetOf } from '../routes/receiver-schema.ts';
import { ACCEPTED, postAlert, type Send } from './receiver.ts';

const ALERTS_PATH = '/api/v2/alerts';
const ORIGINS_SENT_MAX = 3;
/** An alert that is not sent again for so long counts as resolved, as with Prometheus: four intervals. */
export const ALERT_LIFE_MS = 4 * 60_000;

/**
 * Alertmanager, API v2. It keeps no alerts on disk: open ones are repeated every minute, so that they outlive a restart
 * of Alertmanager and expire if this service is gone. Recent ends are repeated, too.
 */
export function sendToAlertmanager(
  { wording, timeoutMs }: ReceiverSettings,
  target: TargetOf<'alertmanager'>,
  poster: HttpPoster,
): Send {
  const { url, authorization } = target;
  return async (notification, signal) => {
    const { notices } = notification;
    const headers = authorization === null ? {} : { authorization };
    // An event that opened and closed within one message: Alertmanager keeps the later of two posts.
    for (const part of [notices.filter(isOpen), notices.filter((notice) => !isOpen(notice))]) {
      if (part.length === 0) continue;
      const nowMs = Date.now();
      const alerts = part.map((notice) => {
        const words = wordsOf(wording, { ...notification, notices: [notice] });
        return postableAlert(notice, { ...words, link: consoleLink(wording.consoleUrl, notice), ...target }, nowMs);
      });
      const body = JSON.stringify(alerts);
      const outcome = await postAlert({ poster, url: url + ALERTS_PATH, headers, body, timeoutMs, signal });
      if (outcome.kind !== 'accepted') return outcome;
    }
    return ACCEPTED;
  };
}

const isOpen = ({ type }: Notice) => type !== 'closed';

interface PostedWords extends Worded, Pick<TargetOf<'alertmanager'>, 'alertname' | 'severities'> {
  readonly link: string | null;
}

/**
 * One alert, with the labels of its series and its detector, or those that all events of an incident had at first. Its
 * labels are its identity, so they never change: kind and severity are those of its first message.
 */
export function postableAlert(
  notice: Notice,
  { title, text, link, alertname, severities }: PostedWords,
  nowMs: number,
) {
  const { type, opening, closedAtMs = nowMs } = notice;
  // The same in each repetition: if the clock of Alertmanager is behind, a later end opens the alert again.
  const endMs = type === 'closed' ? closedAtMs : nowMs + ALERT_LIFE_MS;
  const record = recordOf(notice);
  const labels = 'event' in notice ? eventLabels(notice.event, alertname) : incidentLabels(notice.incident, opening);
  put(labels, 'kind', opening.kind);
  put(labels, 'severity', severities.get(opening.urgency) ?? opening.urgency);
  const annotations: Record<string, string> = {};
  put(annotations, 'title', title);
  if ('event' in notice) {
    put(annotations, 'summary', `${placeOf(notice)}: ${record.summary}`);
    put(annotations, 'unusual', notice.event.unusual ?? '');
  } else {
    put(annotations, 'summary', record.summary);
    put(annotations, 'urgency', eventUrgency(record));
    for (const [i, origin] of notice.incident.origins.slice(0, ORIGINS_SENT_MAX).entries()) {
      put(annotations, `origin_${i + 1}`, originText(origin));
    }
  }
  put(annotations, 'runbook_url', guidanceOf(record.labels).runbook);
  annotations.description = text;
  return {
    labels,
    annotations,
    // The time of an event may lie ahead of the clock; an alert must not begin after its end.
    startsAt: new Date(Math.min(record.startedAtMs, nowMs, endMs)).toISOString(),
    ...(link !== null && { generatorURL: link }),
    endsAt: new Date(endMs).toISOString(),
  };
}

function eventLabels(event: AnomalyEvent, alertname: string) {
  const { eventId, detector, series, group, labels: own, seriesLabels } = event;
  // An alert that an earlier version kept has no labels of its series.
  const labels = givenLabels({ ...seriesLabels }, own);
  put(labels, 'alertname', alertname);
  put(labels, 'detector', detector);
  put(labels, 'series', series ?? '');
  put(labels, 'group', group ?? '');
  put(labels, 'event_id', eventId);
  return labels;
}

function incidentLabels({ incidentId }: NotifiedIncident, { labels: shared = {} }: Opening) {
  const labels = givenLabels(shared, {});
  put(labels, 'alertname', 'Incident');
  put(labels, 'incident_id', incidentId);
  return labels;
}

/** Later ones win. */
function givenLabels(...given: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [label, value] of given.flatMap((each) => Object.entries(each))) {
    put(labels, label === NAME_LABEL ? 'metric' : labelName(label), value);
  }
  return labels;
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
