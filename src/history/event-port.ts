import type { AnomalyEvent } from '../record/anomaly-event.ts';

/** What is kept of events: how it is chosen, and what is found. Part of the port of the history. */

export interface EventSelection {
  readonly open: boolean | null;
  readonly series: string | null;
  readonly group: string | null;
  /** A glob or matchers: of the series, of a member of the group, or of the group. */
  readonly match: string | null;
  readonly detector: string | null;
  readonly kind: string | null;
  /** Only events of this incident, or of the one that it is part of now. */
  readonly incident: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly limit: number;
  readonly after: readonly (string | number)[] | null;
}

/** The newest revision of an event. */
export interface KnownEvent extends AnomalyEvent {
  /** The incident that it is part of; null while none has named it. */
  readonly incidentId: string | null;
}

export interface EventRows {
  /** Open ones first, then newest first. */
  readonly events: readonly KnownEvent[];
  readonly totalOpen: number;
  readonly next: readonly (string | number)[] | null;
}
