import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { EventReviewRecord } from '../../store/reviews/event-reviews.ts';

export interface LabelledEvent {
  readonly event: AnomalyEvent;
  readonly real: boolean;
}

interface RaisedBoth {
  readonly before: readonly AnomalyEvent[];
  readonly after: readonly AnomalyEvent[];
}

export function labelledEvents(reviews: readonly EventReviewRecord[]): LabelledEvent[] {
  return reviews.flatMap(({ label, record }) =>
    label === null ? [] : [{ event: JSON.parse(record) as AnomalyEvent, real: label.real }],
  );
}

/** Counts of labelled events that other settings raise: real ones should stay. */
export function labelsRaised(labelled: readonly LabelledEvent[], raised: RaisedBoth) {
  const [before, after] = [raised.before, raised.after].map(overlapping);
  const count = (wanted: boolean) => {
    const events = labelled.filter(({ real }) => real === wanted).map(({ event }) => event);
    const raisedBy = (find: typeof before) => events.filter((event) => find(event).length > 0).length;
    return { labelled: events.length, before: raisedBy(before), after: raisedBy(after) };
  };
  return { real: count(true), not_real: count(false) };
}

/** Events of the same series, or group, and the same time as another one. */
function overlapping<E extends AnomalyEvent>(events: readonly E[]): (event: AnomalyEvent) => readonly E[] {
  const bySubject = Map.groupBy(events, subjectOf);
  return (event) => (bySubject.get(subjectOf(event)) ?? []).filter((other) => overlap(event, other));
}

function subjectOf({ series, group }: AnomalyEvent): string {
  return JSON.stringify(series === null ? [group] : series);
}

function overlap(a: AnomalyEvent, b: AnomalyEvent): boolean {
  const endOf = ({ endedAtMs }: AnomalyEvent) => endedAtMs ?? Number.POSITIVE_INFINITY;
  return a.startedAtMs <= endOf(b) && b.startedAtMs <= endOf(a);
}

/** An event that one of two settings raises, or both. */
interface ComparedEvent {
  readonly event: AnomalyEvent;
  readonly raisedBy: 'before' | 'after' | 'both';
  /** Feedback on an event of its time; null: none. One that is real counts. */
  readonly real: boolean | null;
}

/** The events of two settings as one list: what both raise is there once, as the first settings raise it. */
export function comparedRaised({ before, after }: RaisedBoth, labelled: readonly LabelledEvent[]): ComparedEvent[] {
  const [inBefore, inAfter] = [overlapping(before), overlapping(after)];
  const realOf = verdictOf(labelled);
  const compared = (event: AnomalyEvent, raisedBy: ComparedEvent['raisedBy']) => {
    return { event, raisedBy, real: realOf(event) };
  };
  return [
    ...before.map((event) => compared(event, inAfter(event).length > 0 ? 'both' : 'before')),
    ...after.flatMap((event) => (inBefore(event).length > 0 ? [] : [compared(event, 'after')])),
  ];
}

/** Feedback on an event of the same time: real if one of several is; null without any. */
function verdictOf(labelled: readonly LabelledEvent[]): (event: AnomalyEvent) => boolean | null {
  const [real, notReal] = [true, false].map((wanted) =>
    overlapping(labelled.flatMap((label) => (label.real === wanted ? [label.event] : []))),
  );
  return (event) => (real(event).length > 0 ? true : notReal(event).length > 0 ? false : null);
}

/** Differences first, then by severity. */
export function differingFirst(events: readonly ComparedEvent[]): ComparedEvent[] {
  const isShared = ({ raisedBy }: ComparedEvent) => Number(raisedBy === 'both');
  return events.toSorted((a, b) => isShared(a) - isShared(b) || (b.event.severity ?? 0) - (a.event.severity ?? 0));
}
