import type { AlarmedDay } from '../../alarm/alarm.ts';
import type { EventMoment } from './event-moment.ts';

/** Rows behind a day that show whether values are back. */
const BEHIND_ROWS = 3;

/** The day that an event is about which the alarm of a whole day opened. */
export interface EventDay {
  /** The first row behind it. */
  readonly end: EventMoment;
  /** Alarms of whole days. */
  readonly alarms: number;
}

/** The day of an alarm, which is not counted yet. */
export function dayOfAlarm({ position, timestampMs }: EventMoment, { leftMs }: AlarmedDay, stepMs: number): EventDay {
  return { end: { position: position + Math.ceil(leftMs / stepMs), timestampMs: timestampMs + leftMs }, alarms: 0 };
}

/** Counts an alarm of the day of an event, or of the next day, to which the event continues. */
export function countDay(
  event: { day?: EventDay },
  row: EventMoment,
  { day, stepMs }: { readonly day: AlarmedDay | undefined; readonly stepMs: number },
): void {
  if (event.day === undefined || day === undefined) return;
  event.day = { ...dayOfAlarm(row, day, stepMs), alarms: event.day.alarms + 1 };
}

/** True if an event is about its day alone. */
export function isOfDay({ alarms, day }: { readonly alarms: number; readonly day?: EventDay }): boolean {
  return alarms === day?.alarms;
}

/** True if a row lies far enough behind the day to show whether values are back. */
export function isBehindDay(day: EventDay | undefined, position: number): boolean {
  return day === undefined || position >= day.end.position + BEHIND_ROWS - 1;
}

/** Rows that a day has had before one. */
export function rowsOfDay({ agoMs }: AlarmedDay, stepMs: number): number {
  return Math.floor(agoMs / stepMs);
}

/** The end of an event, not before that of its day if the day is over. */
export function notBeforeDay(end: EventMoment, day: EventDay | undefined, nowMs: number): EventMoment {
  return day === undefined || day.end.timestampMs > nowMs || day.end.position <= end.position ? end : day.end;
}
