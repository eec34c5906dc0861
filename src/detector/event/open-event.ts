import type { AnomalyEvent, CloseReason, EventDirection, EventKind, EventType } from '../../record/anomaly-event.ts';
import { summaryOf } from './event-summary.ts';
import { type MemberShares, NO_SHARES, sharesOf } from './member-shares.ts';

/**
 * An event that goes on. It is kept as JSON, so its numbers are finite. It holds all that its last revision needs: that
 * one may be written when the detector is gone.
 */
export interface OpenEvent extends Pick<AnomalyEvent, 'eventId' | 'detector' | 'series' | 'group' | 'labels'> {
  /** Number of the newest revision; -1 until it is opened. */
  revision: number;
  /** Position of the first alarm. */
  readonly start: number;
  readonly startedAtMs: number;
  /** The series that it is classified by: itself, or the most unusual member at the first alarm. */
  readonly leader: string;
  /** Deviation of the residuals and of the changes before it. */
  readonly scale: number;
  readonly changeScale: number;
  /** How far the values lay from their forecasts just before the first alarm, in deviations. */
  readonly leading: number;
  /** Residuals of the first rows, in deviations. */
  readonly residuals: number[];
  kind: EventKind;
  alarms: number;
  /** Alarms below what was expected. */
  alarmsBelow: number;
  lastAlarm: EventMoment;
  /** Where it was last looked at whether something is new, and the alarms by then. */
  checked: { readonly position: number; readonly alarms: number };
  /** The highest of its alarms; null where none had one. */
  severity: number | null;
  peak: EventPeak;
  shares: MemberShares;
  /** How many series have stopped, where the event is a pause. Left out for other events. */
  readonly seriesCount?: number;
}

export interface EventMoment {
  readonly position: number;
  readonly timestampMs: number;
}

/** The most unusual alarm. */
export interface EventPeak extends Pick<AnomalyEvent, 'grade' | 'value' | 'expected' | 'lo' | 'hi' | 'unusual'> {
  readonly timestampMs: number;
}

/** How an event begins. */
export interface EventStart
  extends Pick<OpenEvent, 'eventId' | 'kind' | 'leader' | 'scale' | 'changeScale' | 'leading' | 'peak'> {
  readonly moment: EventMoment;
}

/** An event before its first revision, and without an alarm. */
export function newEvent(
  { detector, series, group, labels }: Pick<AnomalyEvent, 'detector' | 'series' | 'group' | 'labels'>,
  { eventId, kind, moment, leader, scale, changeScale, leading, peak }: EventStart,
): OpenEvent {
  return {
    eventId,
    revision: -1,
    detector,
    series,
    group,
    labels,
    start: moment.position,
    startedAtMs: moment.timestampMs,
    leader,
    scale,
    changeScale,
    leading,
    residuals: [],
    kind,
    alarms: 0,
    alarmsBelow: 0,
    lastAlarm: moment,
    checked: { position: moment.position, alarms: 0 },
    severity: null,
    peak,
    shares: NO_SHARES,
  };
}

/** Direction is `both` where the rarer one has this share of the alarms. */
const BOTH_SHARE = 0.25;

/** The next revision of an event. */
export function revise(event: OpenEvent, type: 'opened' | 'updated', timestampMs: number): AnomalyEvent {
  event.revision++;
  return revisionOf(event, type, timestampMs);
}

/** The last revision of an event. It is never earlier than the last alarm. */
export function conclude(event: OpenEvent, closeReason: CloseReason, timestampMs: number): AnomalyEvent {
  event.revision++;
  const { timestampMs: endedAtMs } = event.lastAlarm;
  return { ...revisionOf(event, 'closed', Math.max(timestampMs, endedAtMs)), endedAtMs, closeReason };
}

function revisionOf(event: OpenEvent, type: EventType, updatedAtMs: number): AnomalyEvent {
  const { start, startedAtMs, kind, severity, alarms, lastAlarm, labels } = event;
  const { timestampMs: peakAtMs, grade, value, expected, lo, hi, unusual } = event.peak;
  const direction = directionOf(event);
  const members = sharesOf(event.shares);
  const seriesCount = event.seriesCount ?? null;
  const lastedMs = type === 'closed' ? lastAlarm.timestampMs - startedAtMs : null;
  return {
    eventId: event.eventId,
    type,
    revision: event.revision,
    detector: event.detector,
    series: event.series,
    group: event.group,
    kind,
    direction,
    startedAtMs,
    peakAtMs,
    updatedAtMs,
    endedAtMs: null,
    severity,
    grade,
    value,
    expected,
    lo,
    hi,
    alarms,
    observations: lastAlarm.position - start + 1,
    closeReason: null,
    summary: summaryOf({ kind, direction, value, expected, unusual, members, seriesCount }, lastedMs),
    unusual,
    members,
    labels,
    seriesCount,
  };
}

/** That of the peak, unless many alarms lie on the other side. */
function directionOf({ kind, alarms, alarmsBelow, peak }: OpenEvent): EventDirection {
  if (kind === 'silence') return 'down';
  const below = alarmsBelow / alarms;
  if (below >= BOTH_SHARE && below <= 1 - BOTH_SHARE) return 'both';
  return peak.expected !== null && (peak.value ?? 0) < peak.expected ? 'down' : 'up';
}
