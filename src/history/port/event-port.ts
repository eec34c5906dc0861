import type { AnomalyEvent } from '../../records/anomaly-event.ts';

/** Events in the port of the history: how they are chosen, and what is found. */

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
