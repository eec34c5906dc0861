import type { AnomalyEvent, EventKind } from '../../../records/anomaly-event.ts';
import type { EventDay } from './day-event.ts';
import type { CountedAlarm, EventMoment, Reach } from './event-moment.ts';
import { type MemberShares, NO_SHARES } from './member-shares.ts';

/**
 * An open event. It is kept as JSON, so its numbers are finite. It holds all that its last revision needs: that
 * one may be written when the detector is gone.
 */
export interface OpenEvent extends Pick<AnomalyEvent, 'eventId' | 'detector' | 'series' | 'group' | 'labels'> {
  /** Omitted where the id shows them. */
  readonly seriesLabels?: Readonly<Record<string, string>>;
  /** Omitted where there is none. */
  readonly unit?: string | null;
  /** Omitted where times are event times. */
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
  /** Distance of the values from their forecasts just before the first alarm, in deviations. */
  readonly leading: number;
  /** Residuals of the first rows, in deviations. */
  readonly residuals: number[];
  /** Rows before the first alarm that they begin with; omitted for none. */
  readonly lead?: number;
  kind: EventKind;
  alarms: number;
  /** Alarms below what was expected, and those above it; neither those of rows that are on their forecast again. */
  alarmsBelow: number;
  alarmsAbove: number;
  /** Alarms of the seasonal profile, which raises one as values leave what is usual; left out where there is none. */
  seasonAlarms?: number;
  lastAlarm: EventMoment;
  /** The first row of the return to normal, as far as is known: the one behind the last that deviates. */
  until: EventMoment;
  /** Typical rows since then, RETURN_ROWS at most. The changelog has it under this name. */
  ordinaryRows: number;
  /** The last alarm before `until`; left out by earlier versions. */
  counted?: CountedAlarm;
  /** The same of rows that are away as the peak is: off their forecast, or displaced. It is where a spike ends. */
  away: Reach;
  /** The day, if the alarm of a whole day opened it; left out for others. */
  day?: EventDay;
  /** It is not reported: it is on the side that its detector does not watch. Omitted for others. */
  readonly isUnwatched?: true;
  /** Median of the values just before it, in units of the series; null if there are none. */
  readonly before: number | null;
  /** Position of the last revision that was made because values came back; left out where there is none. */
  recovering?: number;
  /** Position of the last check for changes, and the alarms until then. */
  checked: { readonly position: number; readonly alarms: number };
  /** Days in a row on which an event began at this time; left out on the first. */
  days?: number;
  /** Event time of the first stuck value; left out where the event begins with it, or values are not stuck. */
  stuckAtMs?: number;
  /** The highest of its alarms; null if none had one. */
  severity: number | null;
  peak: EventPeak;
  shares: MemberShares;
  /** Threshold of its series at the first alarm, as a grade; left out if there is none, and by earlier versions. */
  readonly threshold?: number;
  /** Number of series that have stopped, if the event is a pause. Omitted for other events. */
  readonly seriesCount?: number;
}

/** The row that deviates most, and the highest grade of all alarms. */
export interface EventPeak extends Pick<AnomalyEvent, 'grade' | 'value' | 'expected' | 'lo' | 'hi' | 'unusual'> {
  readonly timestampMs: number;
  /** The member of a group whose value it is, and the deviation of its residuals. */
  readonly series?: string;
  readonly scale?: number;
}

/** Distance of a peak from what was expected; 0 if that is not known. */
export function sizeOf({ value, expected }: Pick<EventPeak, 'value' | 'expected'>): number {
  return value === null || expected === null ? 0 : Math.abs(value - expected);
}

/** The same in the unit of the series that the event is classified by; 0 where the peak is of another member. */
export function leaderSizeOf({ peak, leader }: Pick<OpenEvent, 'peak' | 'leader'>): number {
  return (peak.series ?? leader) === leader ? sizeOf(peak) : 0;
}

/** The beginning of an event. */
interface EventStart
  extends Pick<
    OpenEvent,
    | 'eventId'
    | 'kind'
    | 'leader'
    | 'scale'
    | 'changeScale'
    | 'leading'
    | 'before'
    | 'peak'
    | 'lead'
    | 'day'
    | 'isUnwatched'
    | 'threshold'
  > {
  /** The first deviating row. */
  readonly begun: EventMoment;
  readonly firstAlarm: EventMoment;
  /** Omitted where the first alarm is the first row that is away. */
  readonly away?: Reach;
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
  { begun, firstAlarm, away = { until: firstAlarm, otherRows: 0 }, ...start }: EventStart,
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
    alarmsAbove: 0,
    lastAlarm: firstAlarm,
    until: firstAlarm,
    ordinaryRows: 0,
    away,
    checked: { position: firstAlarm.position, alarms: 0 },
    severity: null,
    shares: NO_SHARES,
    ...(seriesLabels && { seriesLabels }),
    ...(unit && { unit }),
    ...(originMs !== undefined && { originMs }),
  };
}

/** An event that an earlier version kept began and ended with its alarms, and all of these had a side. */
export function keptEvent(event: OpenEvent): OpenEvent {
  const { start, startedAtMs, lastAlarm, alarms, alarmsBelow } = event;
  const firstAlarm = { position: start, timestampMs: startedAtMs };
  const until = { ...lastAlarm, position: lastAlarm.position + 1 };
  const begun: Pick<OpenEvent, 'firstAlarm' | 'until' | 'ordinaryRows' | 'before' | 'alarmsAbove' | 'away'> = {
    firstAlarm,
    until,
    ordinaryRows: 0,
    before: null,
    alarmsAbove: alarms - alarmsBelow,
    away: { until: event.until ?? until, otherRows: 0 },
  };
  return { ...begun, ...event };
}
