import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { Freshness } from '../../../api/wire/schema/operations/freshness-schema.ts';
import type { IncidentAnswer } from '../../../api/wire/schema/operations/incident-schema.ts';
import type { Incident } from '../../../records/incident.ts';
import { isOriginKnown } from '../../../records/incident.ts';
import { routeTo } from '../route.ts';
import { counted, elapsedText, timeText } from './value-words.ts';

export const INCIDENT_KIND_WORDS: Readonly<Record<IncidentAnswer['kind'], readonly [name: string, meaning: string]>> = {
  single: ['single', 'no other event is related to this one'],
  related: ['related', 'labels or names in common, or earlier events at the same times'],
  simultaneous: ['simultaneous', 'far more series deviate at once than usual'],
  pause: ['pause', 'the whole input of a detector stopped'],
};

export const originName = ({ common, series }: IncidentAnswer['origins'][number]): string => common ?? series;

export function incidentAddress({ incidentId }: Pick<IncidentAnswer, 'incidentId'>): string {
  return routeTo('incidents', incidentId);
}

/** The name of an incident in a list: its first candidate if the origin is known, else its summary. */
export function incidentName({ origins, summary }: Pick<IncidentAnswer, 'origins' | 'summary'>): string {
  return isOriginKnown(origins) ? originName(origins[0]) : summary;
}

export function namedOrigins({ origins }: Pick<IncidentAnswer, 'origins'>): readonly string[] {
  return isOriginKnown(origins) ? [originName(origins[0])] : [];
}

type Sized = Pick<IncidentAnswer, 'kind' | 'eventCount' | 'seriesCount'>;

/** `5 series`; of a pause, which is of whole detectors, `2 detectors`. */
export function affectedText({ kind, seriesCount }: Pick<Sized, 'kind' | 'seriesCount'>): string {
  return kind === 'pause' ? counted(seriesCount, 'detector') : counted(seriesCount, 'series', 'series');
}

/** `7 events of 5 series`. */
export function incidentSize(sized: Sized): string {
  return `${counted(sized.eventCount, 'event')} of ${affectedText(sized)}`;
}

/** Open incidents after a revision. One event alone is shown as an event. */
export function withRevision(incidents: readonly IncidentAnswer[], revision: Incident): readonly IncidentAnswer[] {
  const { events: _, ...shown } = revision;
  const known = incidents.find(({ incidentId }) => incidentId === revision.incidentId);
  const others = incidents.filter(({ incidentId }) => incidentId !== revision.incidentId);
  const isShown = revision.kind !== 'single' && revision.endedAtMs === null && revision.type !== 'merged';
  if (!isShown) return others;
  const { acknowledged = null, muted = null, verdicts = [] } = known ?? {};
  return [{ ...shown, acknowledged, muted, verdicts }, ...others];
}

/** Events with the incident that a revision names for them. */
export function withIncident<E extends Pick<EventAnswer, 'eventId' | 'incidentId'>>(
  events: readonly E[],
  { incidentId, mergedInto, events: named }: Incident,
): readonly E[] {
  const ids = new Set(named.map(({ eventId }) => eventId));
  return events.map((event) => {
    if (ids.has(event.eventId)) return { ...event, incidentId };
    return mergedInto !== null && event.incidentId === incidentId ? { ...event, incidentId: mergedInto } : event;
  });
}

/** Why events are in no incident, with a remedy; null while incidents are created. */
export function incidentsStalled(freshness: Freshness | null | undefined, nowMs: number): string | null {
  if (freshness?.incidents === null) return 'Events are not grouped into incidents. Run: npm start -- incidents';
  const since = freshness?.incidents?.stalled_since ?? null;
  if (since === null) return null;
  return `No incident was created since ${timeText(since, nowMs)}. Run: npm start -- incidents`;
}

/** `first`, or `+41 s`. */
export function onsetText(ms: number): string {
  return ms <= 0 ? 'first' : `+${elapsedText(ms)}`;
}
