import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import { eventUrgency } from '../../record/urgency.ts';
import { eventLink } from './event-link.ts';
import { type Notice, type Notification, typeOf } from './notification.ts';
import { oneLine } from './plain-text.ts';

/** Text of a field; an empty text where the event has none. */
type ReadField<T> = (of: T, consoleUrl: string | null) => string;

/** Fields of an event in a template, also outside of `{{#each events}}`, where they are those of the first event. */
export const NOTICE_FIELDS: Readonly<Record<string, ReadField<Notice>>> = {
  type: ({ type }) => type,
  eventId: ({ event }) => event.eventId,
  link: ({ event }, consoleUrl) => eventLink(consoleUrl, event) ?? '',
  revision: ({ event }) => String(event.revision),
  detector: ({ event }) => event.detector,
  subject: ({ event }) => subjectOf(event),
  series: ({ event }) => event.series ?? '',
  group: ({ event }) => event.group ?? '',
  kind: ({ event }) => event.kind.replaceAll('_', ' '),
  direction: ({ event }) => event.direction,
  urgency: ({ event }) => eventUrgency(event),
  startedAt: ({ event }) => timeText(event.startedAtMs),
  peakAt: ({ event }) => timeText(event.peakAtMs),
  updatedAt: ({ event }) => timeText(event.updatedAtMs),
  endedAt: ({ event }) => timeText(event.endedAtMs),
  duration: ({ event }) => durationText((event.endedAtMs ?? event.updatedAtMs) - event.startedAtMs),
  severity: ({ event }) => numberText(event.severity),
  grade: ({ event }) => numberText(event.grade),
  value: ({ event }) => numberText(event.value),
  expected: ({ event }) => numberText(event.expected),
  lo: ({ event }) => numberText(event.lo),
  hi: ({ event }) => numberText(event.hi),
  alarms: ({ event }) => String(event.alarms),
  observations: ({ event }) => String(event.observations),
  closeReason: ({ event }) => (event.closeReason ?? '').replaceAll('_', ' '),
  summary: ({ event }) => event.summary,
  unusual: ({ event }) => event.unusual ?? '',
  seriesCount: ({ event }) => String(event.seriesCount ?? ''),
  members: ({ event }) => event.members.map(({ series, share }) => `${series} ${Math.round(100 * share)} %`).join(', '),
};

/** Fields of the whole message. */
export const MESSAGE_FIELDS: Readonly<Record<string, ReadField<Notification>>> = {
  status: (notification) => (notification.escalatedAfterMinutes === null ? typeOf(notification) : 'still open'),
  count: ({ notices }) => String(notices.length),
  others: ({ notices }) => (notices.length === 1 ? '' : String(notices.length - 1)),
  route: ({ route }) => route,
  receiver: ({ receiver }) => receiver,
  groupedBy: ({ group }) => group ?? '',
  escalatedAfterMinutes: ({ escalatedAfterMinutes: minutes }) => (minutes === null ? '' : String(minutes)),
};

/** `labels.NAME`: a label of the detector. */
export const LABEL_PREFIX = 'labels.';

/** Where the names of a template are looked up. */
export interface FieldScope {
  readonly notification: Notification;
  readonly notice: Notice;
  /** Where the console is, as people reach it. */
  readonly consoleUrl: string | null;
}

/** The text of a field as one line; empty where the field has no value. */
export function readField(name: string, { notification, notice, consoleUrl }: FieldScope): string {
  if (name.startsWith(LABEL_PREFIX)) {
    const { labels } = notice.event;
    const label = name.slice(LABEL_PREFIX.length);
    return Object.hasOwn(labels, label) ? oneLine(labels[label]) : '';
  }
  const ofMessage = Object.hasOwn(MESSAGE_FIELDS, name) ? MESSAGE_FIELDS[name](notification, consoleUrl) : null;
  return oneLine(ofMessage ?? NOTICE_FIELDS[name](notice, consoleUrl));
}

/** What the event is about: its series, its group, or its detector as a whole. */
export function subjectOf({ series, group, detector }: Pick<AnomalyEvent, 'series' | 'group' | 'detector'>): string {
  return series ?? group ?? `detector ${detector}`;
}

const SIGNIFICANT_DIGITS = 6;

function numberText(value: number | null): string {
  return value === null ? '' : String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** `2026-01-31 12:00:00 UTC`. */
function timeText(ms: number | null): string {
  return ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1_000)} s`;
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
