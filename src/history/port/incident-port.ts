import type { Incident } from '../../records/incident.ts';
import type { PageKey, SpanSelection } from './event-port.ts';

/** Incidents in the port of the history: how they are chosen, and what is found. */

export interface IncidentSelection extends SpanSelection {
  /** true: only incidents of the kind `single`; false: only others. */
  readonly single: boolean | null;
}

/** Incidents that were merged into another one are part of it, and not listed. */
export interface IncidentRows {
  /** The newest revision of each, without its events. Open ones first, then newest first. */
  readonly incidents: readonly Incident[];
  /** Open ones, whatever the filters but `single`. */
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

/** Freshness of the incidents. */
export interface IncidentStanding {
  readonly open: number;
  /** Since when open events are in no incident, though later than the newest revision of any; null: there are none. */
  readonly unnamedSinceMs: number | null;
}
