import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { Incident } from '../../records/incident.ts';

/** Events and incidents in the port of the history: how they are chosen, and what is found. */

/** The sort key of the last row of a page. */
export type PageKey = readonly (string | number)[];

export interface SpanSelection {
  readonly open: boolean | null;
  /** A glob or matchers: of the series, a member of the group, or the group. Incidents: of one of their events. */
  readonly match: string | null;
  /** Incidents: that of one of their events. */
  readonly detector: string | null;
  readonly kind: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly limit: number;
  readonly after: PageKey | null;
}

export interface EventSelection extends SpanSelection {
  readonly series: string | null;
  readonly group: string | null;
  /** Only events of this incident, or of the one that it is part of now. */
  readonly incident: string | null;
}

/** Every event, in large pages. */
export const ALL_EVENTS: EventSelection = {
  open: null,
  series: null,
  group: null,
  match: null,
  detector: null,
  kind: null,
  incident: null,
  fromMs: null,
  toMs: null,
  limit: 1_000,
  after: null,
};

export interface KnownEvent extends AnomalyEvent {
  /** The incident that it is part of; null while none has named it. */
  readonly incidentId: string | null;
}

export interface EventRows {
  /** Open ones first, then newest first. */
  readonly events: readonly KnownEvent[];
  readonly totalOpen: number;
  readonly next: PageKey | null;
}

export interface IncidentSelection extends SpanSelection {
  /** true: only incidents of the kind `single`; false: only others. */
  readonly single: boolean | null;
}

/** Incidents that were merged into another one are part of it, and not listed. */
export interface IncidentRows {
  /** The newest revision of each, without its events. Open ones first, then newest first. */
  readonly incidents: readonly Incident[];
  /** Open ones, regardless of the filters except `single`. */
  readonly totalOpen: number;
  readonly next: PageKey | null;
}

/** An earlier incident of the same series. */
export interface SimilarIncident {
  readonly incident: Incident;
  readonly commonCount: number;
}

export interface FoundIncident {
  /** The newest revision, with all of its events by their onsets, `INCIDENT_EVENTS_MAX` at most. */
  readonly incident: Incident;
  /** Those that were merged into it. */
  readonly mergedIds: readonly string[];
  /** Those with the most series in common first. */
  readonly similar: readonly SimilarIncident[];
}

export const INCIDENT_EVENTS_MAX = 1_000;
/** Merged incidents that one question finds. */
export const MERGED_MAX = 10_000;

export interface IncidentStanding {
  readonly open: number;
  /** Since when open events are in no incident, though later than the newest revision of any; null: there are none. */
  readonly unnamedSinceMs: number | null;
}
