import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident, IncidentEvent } from '../../records/incident.ts';
import { choosesSubject } from '../../records/series/muted-series.ts';
import type { AlertRoute, EventMatch } from './alert-route.ts';

/** Fields that routes and mute windows match: of an event, or of one as its incident names it. */
export type MatchedEvent = Pick<
  IncidentEvent,
  'detector' | 'series' | 'group' | 'kind' | 'direction' | 'labels' | 'seriesLabels'
>;

/** Returns the matching routes, up to the first that does not continue. */
export function routesOf(
  routes: readonly AlertRoute[],
  on: AlertRoute['on'],
  matches: (route: AlertRoute) => boolean,
): AlertRoute[] {
  const matched: AlertRoute[] = [];
  for (const route of routes) {
    if (route.on !== on || !matches(route)) continue;
    matched.push(route);
    if (!route.continues) break;
  }
  return matched;
}

export function matchesEvent(match: EventMatch, event: AnomalyEvent): boolean {
  return isAsStrong(match, event) && isMeant(match, event);
}

/** @param hasMeant whether one of its events matches the conditions on events */
export function matchesIncident(
  match: EventMatch,
  incident: Pick<Incident, 'kind' | 'severity' | 'grade'>,
  hasMeant: boolean,
): boolean {
  return hasMeant && isAsStrong(match, incident) && (match.incidentKinds?.includes(incident.kind) ?? true);
}

/** True if severity and grade reach their bounds; a silence has neither. */
function isAsStrong(
  { severityMin, gradeMin }: EventMatch,
  { severity, grade }: Pick<AnomalyEvent, 'severity' | 'grade'>,
): boolean {
  return (
    (severityMin === null || (severity !== null && severity >= severityMin)) &&
    (gradeMin === null || (grade !== null && grade >= gradeMin))
  );
}

/**
 * True if the event matches the conditions on detector, series, kind, direction and labels. A pause of a whole detector
 * is about each of its series, so that no condition on series leaves it out.
 */
export function isMeant(match: EventMatch, event: MatchedEvent): boolean {
  const { labels, series, group } = event;
  const isOfAll = series === null && group === null;
  return (
    (match.detector?.test(event.detector) ?? true) &&
    (isOfAll || match.series === null || choosesSubject(match.series, event)) &&
    (match.kinds?.includes(event.kind) ?? true) &&
    (match.directions?.includes(event.direction) ?? true) &&
    [...match.labels].every(([name, pattern]) => Object.hasOwn(labels, name) && pattern.test(labels[name]))
  );
}

/** Fields by which a route can group, in addition to `labels.NAME` and `series_labels.NAME`. */
const GROUP_FIELDS = ['detector', 'kind', 'direction', 'group'] as const;
const LABELS = { 'labels.': 'labels', 'series_labels.': 'seriesLabels' } as const;

function labelOf(field: string): { readonly of: 'labels' | 'seriesLabels'; readonly name: string } | null {
  for (const [prefix, of] of Object.entries(LABELS)) {
    if (field.startsWith(prefix) && field.length > prefix.length) return { of, name: field.slice(prefix.length) };
  }
  return null;
}

export function isGroupField(name: string): boolean {
  return GROUP_FIELDS.some((field) => field === name) || labelOf(name) !== null;
}

/** The values of the fields that group an event, as text: `detector=load,labels.team=db`. */
export function groupOf(fields: readonly string[], event: AnomalyEvent): string {
  return fields.map((field) => `${field}=${groupValue(field, event)}`).join(',');
}

function groupValue(field: string, event: AnomalyEvent): string {
  const label = labelOf(field);
  if (label === null) return event[field as (typeof GROUP_FIELDS)[number]] ?? '';
  const labels = event[label.of] ?? {};
  return Object.hasOwn(labels, label.name) ? labels[label.name] : '';
}
