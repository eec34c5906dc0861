import type { AnomalyEvent, EventKind } from '../../../src/records/anomaly-event.ts';
import type { Segment } from '../detection/event-segments.ts';
import type { SeriesInput } from '../detection/labelled-data.ts';

/** An event that was opened, by rows of its series. */
export interface EventSpan extends Segment {
  /** Row at which it was opened. */
  readonly opened: number;
  /** As its last revision says. */
  readonly kind: EventKind;
}

/** Each event with its first and last alarm, from its revisions. */
export function eventSpans(revisions: readonly AnomalyEvent[], { times }: Pick<SeriesInput, 'times'>): EventSpan[] {
  const rowOf = new Map(Array.from(times, (time, row) => [time, row]));
  const row = (time: number) => rowOf.get(time) ?? Number.NaN;
  return [...Map.groupBy(revisions, ({ eventId }) => eventId).values()].map((own) => {
    const [opened] = own;
    const last = own[own.length - 1];
    const [start, end] = [row(opened.firstAlarmAtMs), row(last.lastAlarmAtMs) + 1];
    return { start, end, opened: row(opened.updatedAtMs), kind: last.kind };
  });
}

/** An event that reaches into these rows around an incident belongs to it. */
const BEFORE_ROWS = 24;
const BEHIND_ROWS = 48;

/** The events of an incident, the earliest first. */
export function eventsOf({ start, end }: Segment, spans: readonly EventSpan[]): EventSpan[] {
  return spans.filter((span) => span.end > start - BEFORE_ROWS && span.start < end + BEHIND_ROWS);
}
