import type { AlarmedDay } from '../alarm/alarm.ts';
import type { EventMoment } from './event-moment.ts';

/** Rows behind a day that tell whether values are back. */
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

/** Counts an alarm of the day of an event, or of the next day, which the event goes on to. */
export function countDay(
  event: { day?: EventDay },
  row: EventMoment,
  { day, stepMs }: { readonly day: AlarmedDay | undefined; readonly stepMs: number },
): void {
  if (event.day === undefined || day === undefined) return;
  event.day = { ...dayOfAlarm(row, day, stepMs), alarms: event.day.alarms + 1 };
}

/** Whether an event is about its day alone. */
export function isOfDay({ alarms, day }: { readonly alarms: number; readonly day?: EventDay }): boolean {
  return alarms === day?.alarms;
}

/** Whether a row lies far enough behind the day to tell whether values are back. */
export function isBehindDay(day: EventDay | undefined, position: number): boolean {
  return day === undefined || position >= day.end.position + BEHIND_ROWS - 1;
}

/** Rows that a day has had before one. */
export function rowsOfDay({ agoMs }: AlarmedDay, stepMs: number): number {
  return Math.floor(agoMs / stepMs);
}

/** Where an event ends that does not end before its day, as far as the day is over. */
export function notBeforeDay(end: EventMoment, day: EventDay | undefined, nowMs: number): EventMoment {
  return day === undefined || day.end.timestampMs > nowMs || day.end.position <= end.position ? end : day.end;
}
