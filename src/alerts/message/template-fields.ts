import { type AnomalyEvent, guidanceOf } from '../../records/anomaly-event.ts';
import { type IncidentOrigin, isOriginKnown } from '../../records/incident.ts';
import { type ListedNames, listedNames } from '../../records/series/listed-names.ts';
import { quantityTexts } from '../../records/text/quantity-text.ts';
import { stretchText } from '../../records/text/stretch-text.ts';
import { eventUrgency } from '../../records/urgency.ts';
import { type Notice, type Notification, typeOf } from './notification.ts';
import { fieldText } from './plain-text.ts';
import { actLink, consoleLink, type NotifiedIncident, recordOf, type Subject } from './subject.ts';

/** Text of a field; empty without a value. */
type ReadField<T> = (of: T, consoleUrl: string | null) => string;

const ofEvent =
  (read: (event: AnomalyEvent) => string): ReadField<Notice> =>
  (notice) =>
    'event' in notice ? read(notice.event) : '';
const ofIncident =
  (read: (incident: NotifiedIncident) => string): ReadField<Notice> =>
  (notice) =>
    'incident' in notice ? read(notice.incident) : '';
const ofBoth =
  (read: (record: AnomalyEvent | NotifiedIncident) => string): ReadField<Notice> =>
  (notice) =>
    read(recordOf(notice));
/** An incident of one event began there. */
const ofOrigin = (place: number) =>
  ofIncident(({ origins, kind }) => (kind === 'single' ? '' : originText(origins[place])));

/**
 * Fields of an event or incident in a template, also outside of `{{#events}}`, where they are those of the first
 * one. A field that it does not have is an empty text.
 */
export const NOTICE_FIELDS: Readonly<Record<string, ReadField<Notice>>> = {
  type: ({ type }) => type,
  eventId: ofEvent(({ eventId }) => eventId),
  incidentId: ofIncident(({ incidentId }) => incidentId),
  link: (notice, consoleUrl) => consoleLink(consoleUrl, notice) ?? '',
  acknowledgeLink: (notice, consoleUrl) => actLink(consoleUrl, notice, 'acknowledge') ?? '',
  muteLink: (notice, consoleUrl) => actLink(consoleUrl, notice, 'mute') ?? '',
  revision: ofBoth(({ revision }) => String(revision)),
  detector: (notice) =>
    'event' in notice
      ? notice.event.detector
      : [...new Set(notice.incident.events.map(({ detector }) => detector))].join(', '),
  subject: placeOf,
  /** As `subject`, but of several series without what `shared` has. */
  name: placeOf,
  series: (notice) => ('event' in notice ? notice.event.series : notice.incident.origins[0]?.series) ?? '',
  group: ofEvent(({ group }) => group ?? ''),
  kind: ofBoth(({ kind }) => kind.replaceAll('_', ' ')),
  direction: ofEvent(({ direction }) => direction),
  urgency: ofBoth(eventUrgency),
  startedAt: ofBoth(({ startedAtMs }) => timeText(startedAtMs)),
  firstAlarmAt: ofEvent(({ startedAtMs, firstAlarmAtMs }) => timeText(firstAlarmAtMs ?? startedAtMs)),
  peakAt: ofEvent(({ peakAtMs }) => timeText(peakAtMs)),
  lastAlarmAt: ofEvent(({ endedAtMs, lastAlarmAtMs }) => timeText(lastAlarmAtMs ?? endedAtMs)),
  updatedAt: ofBoth(({ updatedAtMs }) => timeText(updatedAtMs)),
  endedAt: ofBoth(({ endedAtMs }) => timeText(endedAtMs)),
  duration: ofBoth(({ startedAtMs, updatedAtMs, endedAtMs }) => stretchText((endedAtMs ?? updatedAtMs) - startedAtMs)),
  severity: ofBoth(({ severity }) => numberText(severity)),
  grade: ofBoth(({ grade }) => numberText(grade)),
  value: ofEvent((event) => quantitiesOf(event).value),
  expected: ofEvent((event) => quantitiesOf(event).expected),
  lo: ofEvent((event) => quantitiesOf(event).lo),
  hi: ofEvent((event) => quantitiesOf(event).hi),
  unit: ofEvent(({ unit }) => unit ?? ''),
  usual: ofEvent(usualText),
  distance: ofEvent(distanceText),
  goesOn: ofBoth(goesOnText),
  runbook: ofBoth(({ labels }) => guidanceOf(labels).runbook),
  nextStep: ofBoth(({ labels }) => guidanceOf(labels).nextStep),
  alarms: ofEvent(({ alarms }) => String(alarms)),
  observations: ofEvent(({ observations }) => String(observations)),
  closeReason: (notice) => closeReasonOf(notice),
  summary: ofBoth(({ summary }) => summary),
  changes: ({ changes = '' }) => changes,
  unusual: ofEvent(({ unusual }) => unusual ?? ''),
  seriesCount: ofBoth(({ seriesCount }) => String(seriesCount ?? '')),
  eventCount: ofIncident(({ eventCount }) => String(eventCount)),
  members: (notice) =>
    'event' in notice
      ? listText(notice.event.members.map(({ series, share }) => [series, ` ${Math.round(100 * share)} %`]))
      : listText(notice.incident.events.map((event) => [eventPlace(event), ''])),
  origin1: ofOrigin(0),
  origin2: ofOrigin(1),
  origin3: ofOrigin(2),
};

export const MESSAGE_FIELDS: Readonly<Record<string, ReadField<Notification>>> = {
  status: typeOf,
  count: ({ notices }) => String(notices.length),
  others: ({ notices }) => (notices.length === 1 ? '' : String(notices.length - 1)),
  route: ({ route }) => route,
  receiver: ({ receiver }) => receiver,
  groupedBy: ({ group }) => group ?? '',
  shared: (notification) => namesOf(notification).shared.join(' and '),
};

/** `labels.NAME`: a label of the detector. `seriesLabels.NAME`: one of the series. */
export const LABEL_PREFIXES = { 'labels.': 'labels', 'seriesLabels.': 'seriesLabels' } as const;

/** The labels that a name is looked up in; null for another field. */
export function labelField(name: string) {
  for (const [prefix, of] of Object.entries(LABEL_PREFIXES)) {
    if (name.startsWith(prefix)) return { of, label: name.slice(prefix.length) };
  }
  return null;
}

/** Scope in which the names of a template are looked up. */
export interface FieldScope {
  readonly notification: Notification;
  readonly notice: Notice;
  readonly consoleUrl: string | null;
}

/** Returns the text of a field as one line; empty without a value. */
export function readField(name: string, { notification, notice, consoleUrl }: FieldScope): string {
  const named = labelField(name);
  if (named !== null) {
    // A notification that an earlier version kept has no labels of series.
    const labels = recordOf(notice)[named.of] ?? {};
    return Object.hasOwn(labels, named.label) ? fieldText(labels[named.label]) : '';
  }
  if (name === 'name') return fieldText(namesOf(notification).of(placeOf(notice)));
  const ofMessage = Object.hasOwn(MESSAGE_FIELDS, name) ? MESSAGE_FIELDS[name](notification, consoleUrl) : null;
  return fieldText(ofMessage ?? NOTICE_FIELDS[name](notice, consoleUrl));
}

/** Returns the series, group or detector of an event, or the origin of an incident, if it is known. */
export function placeOf(subject: Subject): string {
  if ('event' in subject) return eventPlace(subject.event);
  const { origins, events, seriesCount } = subject.incident;
  if (isOriginKnown(origins)) return origins[0].common ?? origins[0].series;
  return origins.length === 0 ? listText(events.map((event) => [eventPlace(event), ''])) : `${seriesCount} series`;
}

const names = new WeakMap<Notification['notices'], ListedNames>();

function namesOf({ notices }: Notification): ListedNames {
  const known = names.get(notices) ?? listedNames(notices.map(placeOf));
  names.set(notices, known);
  return known;
}

const LIST_CHARACTERS_MAX = 480;

/** Names with a text behind each: what they share first, and how many do not fit instead of half a name. */
function listText(named: readonly (readonly [id: string, text: string])[]): string {
  const rows = [...new Map(named)];
  const { shared, of } = listedNames(rows.map(([id]) => id));
  const texts = rows.map(([id, text]) => `${of(id)}${text}`);
  const begin = shared.length === 0 ? '' : `${shared.join(' and ')} with `;
  const separator = shared.length === 0 ? ', ' : '; ';
  let text = begin + (texts[0] ?? '');
  for (const [i, next] of texts.slice(1).entries()) {
    if (text.length + next.length > LIST_CHARACTERS_MAX) return `${text} and ${texts.length - i - 1} more`;
    text += separator + next;
  }
  return text;
}

function eventPlace({ series, group, detector }: Pick<AnomalyEvent, 'series' | 'group' | 'detector'>): string {
  return series ?? group ?? `detector ${detector}`;
}

function quantitiesOf({ value, expected, lo, hi, unit = null }: AnomalyEvent) {
  const values = [value, expected, lo, hi];
  const texts = unit === null ? values.map(numberText) : quantityTexts(values, unit);
  const [valueText, expectedText, loText, hiText] = texts.map((text, i) => (values[i] === null ? '' : text));
  return { value: valueText, expected: expectedText, lo: loText, hi: hiText };
}

/** Returns such as `38 to 46`; empty without an interval. */
function usualText(event: AnomalyEvent): string {
  const { lo, hi } = quantitiesOf(event);
  return lo === '' || hi === '' ? '' : `${lo} to ${hi}`;
}

/** Larger shares are omitted: the two values are clearer. */
const SHARE_MAX = 10;

/** Returns such as `+136 %` of the expected value; empty if that has no meaning. */
function distanceText({ value, expected }: AnomalyEvent): string {
  if (value === null || expected === null || value * expected <= 0) return '';
  const share = (value - expected) / Math.abs(expected);
  return Math.abs(share) > SHARE_MAX ? '' : `${share < 0 ? '-' : '+'}${Math.round(100 * Math.abs(share))} %`;
}

function goesOnText(record: AnomalyEvent | NotifiedIncident): string {
  const { startedAtMs, updatedAtMs, endedAtMs } = record;
  const recoveringSinceMs = ('recoveringSinceMs' in record && record.recoveringSinceMs) || null;
  const lasted = stretchText((endedAtMs ?? recoveringSinceMs ?? updatedAtMs) - startedAtMs);
  if (endedAtMs !== null) return `ended after ${lasted}`;
  if (recoveringSinceMs !== null) return `recovering after ${lasted}`;
  return updatedAtMs === startedAtMs ? 'just began' : `ongoing for ${lasted}`;
}

export function originText(origin: IncidentOrigin | undefined): string {
  if (origin === undefined) return '';
  const { series, common, evidence } = origin;
  return [common ?? series, evidence.join(', ')].filter((part) => part !== '').join(': ');
}

function closeReasonOf(notice: Notice): string {
  if ('event' in notice) return (notice.event.closeReason ?? '').replaceAll('_', ' ');
  const { mergedInto } = notice.incident;
  return mergedInto === null ? '' : `merged into ${mergedInto}`;
}

const SIGNIFICANT_DIGITS = 6;

function numberText(value: number | null): string {
  return value === null ? '' : String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** `2026-01-31 12:00:00 UTC`. */
function timeText(ms: number | null): string {
  return ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
