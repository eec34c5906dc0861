import type { AnomalyEvent, CloseReason, EventDirection, EventKind, EventType } from '../../record/anomaly-event.ts';
import { shownLabels } from '../../series/series-id.ts';
import { summaryOf } from './event-summary.ts';
import { type MemberShares, NO_SHARES, sharesOf } from './member-shares.ts';

/** Ordinary rows in a row, behind the last alarm, that are the return to normal. */
const RETURN_ROWS = 3;

/**
 * An event that goes on. It is kept as JSON, so its numbers are finite. It holds all that its last revision needs: that
 * one may be written when the detector is gone.
 */
export interface OpenEvent extends Pick<AnomalyEvent, 'eventId' | 'detector' | 'series' | 'group' | 'labels'> {
  /** Left out where the id shows them. */
  readonly seriesLabels?: Readonly<Record<string, string>>;
  /** Left out where there is none. */
  readonly unit?: string | null;
  /** Left out where times are event times. */
  readonly originMs?: number | null;
  /** Number of the newest revision; -1 until it is opened. */
  revision: number;
  /** Its first deviating row. */
  readonly start: number;
  readonly startedAtMs: number;
  readonly firstAlarm: EventMoment;
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
  /** Alarms of the long memory, which raises one as values leave what is usual; left out where there is none. */
  seasonAlarms?: number;
  lastAlarm: EventMoment;
  /** The first row of the return to normal, as far as is known: the one behind the last that deviates. */
  until: EventMoment;
  /** Ordinary rows since then, RETURN_ROWS at most. */
  ordinaryRows: number;
  /** Median of the values just before it, in units of the series; null where there are none. */
  readonly before: number | null;
  /** Where it was last looked at whether something is new, and the alarms by then. */
  checked: { readonly position: number; readonly alarms: number };
  /** Days in a row on which an event began at this time; left out on the first. */
  days?: number;
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
  /** The member of a group whose value it is. */
  readonly series?: string;
}

/** How an event begins. */
interface EventStart
  extends Pick<OpenEvent, 'eventId' | 'kind' | 'leader' | 'scale' | 'changeScale' | 'leading' | 'before' | 'peak'> {
  /** The first deviating row. */
  readonly begun: EventMoment;
  readonly firstAlarm: EventMoment;
}

/** An event before its first revision, and without an alarm. */
export function newEvent(
  {
    detector,
    series,
    group,
    labels,
    seriesLabels,
    unit,
    originMs,
  }: Pick<AnomalyEvent, 'detector' | 'series' | 'group' | 'labels'> &
    Pick<OpenEvent, 'seriesLabels' | 'unit' | 'originMs'>,
  { begun, firstAlarm, ...start }: EventStart,
): OpenEvent {
  return {
    ...start,
    revision: -1,
    detector,
    series,
    group,
    labels,
    start: begun.position,
    startedAtMs: begun.timestampMs,
    firstAlarm,
    residuals: [],
    alarms: 0,
    alarmsBelow: 0,
    lastAlarm: firstAlarm,
    until: firstAlarm,
    ordinaryRows: 0,
    checked: { position: firstAlarm.position, alarms: 0 },
    severity: null,
    shares: NO_SHARES,
    ...(seriesLabels && { seriesLabels }),
    ...(unit && { unit }),
    ...(originMs !== undefined && { originMs }),
  };
}

/** An event that an earlier version kept began and ended with its alarms. */
export function keptEvent(event: OpenEvent): OpenEvent {
  const { start, startedAtMs, lastAlarm } = event;
  const firstAlarm = { position: start, timestampMs: startedAtMs };
  const until = { ...lastAlarm, position: lastAlarm.position + 1 };
  const begun: Pick<OpenEvent, 'firstAlarm' | 'until' | 'ordinaryRows' | 'before'> = {
    firstAlarm,
    until,
    ordinaryRows: 0,
    before: null,
  };
  return { ...begun, ...event };
}

/** Takes the next row in: how far the event reaches. A row without a value tells nothing of it. */
export function reach(
  event: OpenEvent,
  { position, timestampMs }: EventMoment,
  row: { readonly isAlarm: boolean; readonly deviates: boolean; readonly stepMs: number },
): void {
  if (row.isAlarm || (row.deviates && event.ordinaryRows < RETURN_ROWS)) {
    lastUntil(event, { position, timestampMs }, row.stepMs);
  } else if (!row.deviates) {
    if (position === event.until.position) event.until = { position, timestampMs };
    event.ordinaryRows = Math.min(event.ordinaryRows + 1, RETURN_ROWS);
  }
}

/** What an event is about goes on with a row that is ordinary by itself. */
export function lastUntil(event: OpenEvent, { position, timestampMs }: EventMoment, stepMs: number): void {
  event.until = { position: position + 1, timestampMs: timestampMs + stepMs };
  event.ordinaryRows = 0;
}

/** Direction is `both` where the rarer one has this share of the alarms. */
const BOTH_SHARE = 0.25;

/** The next revision of an event. */
export function revise(event: OpenEvent, type: 'opened' | 'updated', timestampMs: number): AnomalyEvent {
  event.revision++;
  return revisionOf(event, type, timestampMs);
}

/** The last revision of an event. It is never earlier than the last alarm, and no event ends after it. */
export function conclude(event: OpenEvent, closeReason: CloseReason, timestampMs: number): AnomalyEvent {
  event.revision++;
  const closedAtMs = Math.max(timestampMs, event.lastAlarm.timestampMs);
  return revisionOf(event, 'closed', closedAtMs, closeReason);
}

function revisionOf(
  event: OpenEvent,
  type: EventType,
  updatedAtMs: number,
  closeReason: CloseReason | null = null,
): AnomalyEvent {
  const { start, startedAtMs, firstAlarm, lastAlarm, until, kind, severity, alarms, labels } = event;
  const { timestampMs: peakAtMs, grade, value, expected, lo, hi, unusual, series: of } = event.peak;
  const direction = directionOf(event);
  const members = sharesOf(event.shares);
  const seriesCount = event.seriesCount ?? null;
  const unit = event.unit ?? null;
  const endedAtMs = closeReason === null ? null : endOf(event, updatedAtMs);
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
    firstAlarmAtMs: firstAlarm.timestampMs,
    peakAtMs,
    lastAlarmAtMs: lastAlarm.timestampMs,
    updatedAtMs,
    endedAtMs,
    severity,
    grade,
    value,
    expected,
    lo,
    hi,
    alarms,
    observations: Math.max(1, until.position - start),
    closeReason,
    summary: summaryOf(
      { kind, direction, value, expected, lo, hi, unusual, members, seriesCount, unit, of, days: event.days ?? 1 },
      { startedAtMs, endedAtMs, closeReason, originMs: event.originMs === undefined ? 0 : event.originMs },
    ),
    unusual,
    members,
    labels,
    seriesCount,
    seriesLabels: event.seriesLabels ?? shownLabels(event.series ?? event.group ?? ''),
    unit,
  };
}

/** A silence goes on until it is closed. */
function endOf({ kind, until }: OpenEvent, closedAtMs: number): number {
  return kind === 'silence' ? closedAtMs : Math.min(until.timestampMs, closedAtMs);
}

/** That of the peak, unless many alarms lie on the other side. */
function directionOf({ kind, alarms, alarmsBelow, peak }: OpenEvent): EventDirection {
  if (kind === 'silence') return 'down';
  const below = alarmsBelow / alarms;
  if (below >= BOTH_SHARE && below <= 1 - BOTH_SHARE) return 'both';
  return peak.expected !== null && (peak.value ?? 0) < peak.expected ? 'down' : 'up';
}
