import type { AnomalyEvent, EventDirection, EventKind } from '../records/anomaly-event.ts';
import { seenTexts } from '../records/text/seen-text.ts';
import { STRENGTH_MAX, strengthOf } from './origins/rank-origins.ts';

/** Stored part of an event of an open incident. */
export interface IncidentMember {
  readonly incidentId: string;
  readonly detector: string;
  /** The series or group; the detector if all of it stopped. */
  readonly series: string;
  readonly isGroup: boolean;
  /** All series of a detector stopped. */
  readonly isPause: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly seriesLabels: Readonly<Record<string, string>>;
  readonly direction: EventDirection;
  readonly kind: EventKind;
  readonly stepMs: number;
  /** Its first alarm: what it belongs to does not change with its later revisions. */
  readonly atMs: number;
  /** By its first revision. */
  readonly strength: number | null;
  /** Omitted by earlier versions. */
  readonly threshold?: number | null;
  readonly startedAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
  readonly severity: number | null;
  readonly grade: number | null;
  readonly seen: string | null;
  readonly revision: number;
  /** A revision of its incident has named it. */
  readonly isNamed: boolean;
}

/** An event that begins an incident of its own. */
export function memberOf(event: AnomalyEvent, stepMs: number): IncidentMember {
  const { eventId, detector, series, group, labels, seriesLabels, firstAlarmAtMs, grade, threshold } = event;
  const isPause = series === null && group === null;
  const first = {
    labels,
    seriesLabels,
    stepMs,
    atMs: firstAlarmAtMs,
    strength: hadNoWidth(event) ? STRENGTH_MAX : strengthOf(grade),
    threshold,
  };
  return refreshed(
    {
      ...first,
      incidentId: eventId,
      detector,
      series: series ?? group ?? detector,
      isGroup: series === null && group !== null,
      isPause,
      isNamed: false,
    },
    event,
  );
}

/** So many interval widths away, the interval had no width: the distance has no meaning. */
const WIDTHS_MIN = 100_000;

function hadNoWidth({ value, expected, lo, hi }: AnomalyEvent): boolean {
  if (value === null || expected === null || lo === null || hi === null) return false;
  return Math.abs(value - expected) > WIDTHS_MIN * (hi - lo);
}

/** Returns the member with the fields of the newest revision. */
export function refreshed(member: Pick<IncidentMember, FirstFields>, event: AnomalyEvent): IncidentMember {
  const { kind, direction, startedAtMs, updatedAtMs, endedAtMs, severity, grade, revision } = event;
  const newest = { kind, direction, startedAtMs, updatedAtMs, endedAtMs, severity, grade, revision };
  return { ...member, ...newest, seen: seenIn(event) };
}

type FirstFields =
  | 'incidentId'
  | 'detector'
  | 'series'
  | 'isGroup'
  | 'isPause'
  | 'labels'
  | 'seriesLabels'
  | 'stepMs'
  | 'atMs'
  | 'strength'
  | 'threshold'
  | 'isNamed';

/** Returns observed and expected value at the peak, as in the summary of the event. */
function seenIn({ value, expected, lo, hi, unit }: AnomalyEvent): string | null {
  if (value === null || expected === null) return null;
  return `${seenTexts({ value, expected, lo, hi, unit }).join(' where ')} was expected`;
}
