import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import { subjectOf } from '../message/template-fields.ts';
import type { AlertRoute, EventMatch } from './alert-route.ts';

/** Routes that take an event: each that matches, up to the first that does not continue. */
export function routesOf(routes: readonly AlertRoute[], event: AnomalyEvent): AlertRoute[] {
  const taken: AlertRoute[] = [];
  for (const route of routes) {
    if (!matchesEvent(route.match, event)) continue;
    taken.push(route);
    if (!route.continues) break;
  }
  return taken;
}

/**
 * A bound on severity or grade holds for no event that has none, such as silence. A pause of a whole detector is about
 * each of its series, so that no condition on series leaves it out.
 */
export function matchesEvent(match: EventMatch, event: AnomalyEvent): boolean {
  const { severity, grade, labels, series, group } = event;
  const isOfAll = series === null && group === null;
  return (
    (match.detector?.test(event.detector) ?? true) &&
    (isOfAll || (match.series?.test(subjectOf(event)) ?? true)) &&
    (match.kinds?.includes(event.kind) ?? true) &&
    (match.directions?.includes(event.direction) ?? true) &&
    (match.severityMin === null || (severity !== null && severity >= match.severityMin)) &&
    (match.gradeMin === null || (grade !== null && grade >= match.gradeMin)) &&
    [...match.labels].every(([name, pattern]) => Object.hasOwn(labels, name) && pattern.test(labels[name]))
  );
}

/** Fields by which a route can group, besides `labels.NAME`. */
const GROUP_FIELDS = ['detector', 'kind', 'direction', 'group'] as const;
const LABELS = 'labels.';

export function isGroupField(name: string): boolean {
  return GROUP_FIELDS.some((field) => field === name) || (name.startsWith(LABELS) && name.length > LABELS.length);
}

/** The values of the fields that group an event, as text: `detector=load,labels.team=db`. */
export function groupOf(fields: readonly string[], event: AnomalyEvent): string {
  return fields.map((field) => `${field}=${groupValue(field, event)}`).join(',');
}

function groupValue(field: string, event: AnomalyEvent): string {
  if (!field.startsWith(LABELS)) return event[field as (typeof GROUP_FIELDS)[number]] ?? '';
  const name = field.slice(LABELS.length);
  return Object.hasOwn(event.labels, name) ? event.labels[name] : '';
}
