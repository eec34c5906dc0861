import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import type { EventReviewRecord } from '../../store/reviews/event-reviews.ts';

export interface LabelledEvent {
  readonly event: AnomalyEvent;
  readonly real: boolean;
}

/** Labelled events, and how many of them the settings raise before and after a change. */
interface LabelsRaised {
  readonly labelled: number;
  readonly before: number;
  readonly after: number;
}

export interface RaisedBoth {
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
  const count = (wanted: boolean): LabelsRaised => {
    const events = labelled.filter(({ real }) => real === wanted).map(({ event }) => event);
    const raisedBy = (find: typeof before) => events.filter((event) => find(event).length > 0).length;
    return { labelled: events.length, before: raisedBy(before), after: raisedBy(after) };
  };
  return { real: count(true), not_real: count(false) };
}

/** Events of the same series, or group, and the same time as another one. */
export function overlapping<E extends AnomalyEvent>(events: readonly E[]): (event: AnomalyEvent) => readonly E[] {
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
