import type { EventDirection, EventKind } from './anomaly-event.ts';

/** Each incident is opened once, and ends once: closed, or merged into another one. */
export const INCIDENT_TYPES = ['opened', 'updated', 'closed', 'merged'] as const;
export type IncidentType = (typeof INCIDENT_TYPES)[number];

/** Reasons for events to be one incident. A later one of the list outranks an earlier one. */
export const INCIDENT_KINDS = [
  /** An event that nothing else belongs to. */
  'single',
  /** Labels or parts of names in common, or going together before. */
  'related',
  /** Far more series began at once than usually do. */
  'simultaneous',
  /** The whole input of detectors stopped. */
  'pause',
] as const;
export type IncidentKind = (typeof INCIDENT_KINDS)[number];

export interface IncidentEvent {
  readonly eventId: string;
  readonly detector: string;
  readonly series: string | null;
  readonly group: string | null;
  readonly kind: EventKind;
  readonly direction: EventDirection;
  readonly startedAtMs: number;
  /** Labels of the detector, and of the series, as the event has them. */
  readonly labels: Readonly<Record<string, string>>;
  readonly seriesLabels: Readonly<Record<string, string>>;
}

/** A possible origin of an incident. Never the cause: the series that moved first and farthest. */
export interface IncidentOrigin {
  /** The series, or group, that represents it. */
  readonly series: string;
  /** Property that its series share, such as `host=db-1` or the first part of their names; null for one series. */
  readonly common: string | null;
  /** Its share of the evidence, 0..1. Records of 0.2.0 have 1 for the first, and the share of that for the others. */
  readonly score: number;
  /** Sentences without a full stop. Empty if there is no evidence. */
  readonly evidence: readonly string[];
}

/** First candidates with less of the evidence were mostly wrong on labelled faults. */
const KNOWN_SHARE_MIN = 1 / 3;

/** A smaller lead over the second is that of equal replicas, by chance. */
const KNOWN_LEAD_MIN = 1.25;

/** True if the first candidate has a third of the evidence, and a quarter more than the second. */
export function isOriginKnown([first, second]: readonly Pick<IncidentOrigin, 'score'>[]): boolean {
  return first !== undefined && first.score >= KNOWN_SHARE_MIN && first.score >= KNOWN_LEAD_MIN * (second?.score ?? 0);
}

/** One revision of an incident, as it was known at `updatedAtMs`. Times are event times, except where noted. */
export interface Incident {
  /** 32 hexadecimal digits: the id of the event that it began with. */
  readonly incidentId: string;
  readonly type: IncidentType;
  /** 0, 1, 2, ... */
  readonly revision: number;
  readonly kind: IncidentKind;
  readonly startedAtMs: number;
  /** The newest time that its events know. */
  readonly updatedAtMs: number;
  /** End of the last of its events; null while one is open. It may be null again in a later revision. */
  readonly endedAtMs: number | null;
  /** The incident that it is part of from now on; null unless it is merged. */
  readonly mergedInto: string | null;
  /** The highest of its events; null if none has one. */
  readonly severity: number | null;
  readonly grade: number | null;
  readonly eventCount: number;
  readonly seriesCount: number;
  /** Number of series that usually begin within as long a time; null if that is no evidence. */
  readonly usualCount: number | null;
  /** Those that have joined since the revision before. */
  readonly events: readonly IncidentEvent[];
  /** At most five candidates, the most probable one first: see `isOriginKnown`. */
  readonly origins: readonly IncidentOrigin[];
  /** As they were ranked when it was opened. */
  readonly openedOrigins: readonly IncidentOrigin[];
  /** One sentence. */
  readonly summary: string;
}
