import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { EventReviewRecord } from '../../store/event-reviews.ts';

/** Labelled events, and how many of them the settings raise before and after a change. */
export interface LabelsRaised {
  readonly labelled: number;
  readonly before: number;
  readonly after: number;
}

export interface RaisedBoth {
  readonly series: string;
  readonly before: readonly AnomalyEvent[];
  readonly after: readonly AnomalyEvent[];
}

/** How many labelled events of a series other settings raise: real ones should stay. */
export function labelsRaised(reviews: readonly EventReviewRecord[], { series, before, after }: RaisedBoth) {
  const count = (real: boolean): LabelsRaised => {
    const labelled = reviews
      .filter(({ label }) => label?.real === real)
      .map(({ record }) => JSON.parse(record) as AnomalyEvent)
      .filter((event) => event.series === series);
    const raisedBy = (raised: readonly AnomalyEvent[]) =>
      labelled.filter((event) => raised.some((other) => overlap(event, other))).length;
    return { labelled: labelled.length, before: raisedBy(before), after: raisedBy(after) };
  };
  return { real: count(true), not_real: count(false) };
}

function overlap(a: AnomalyEvent, b: AnomalyEvent): boolean {
  const endOf = ({ endedAtMs }: AnomalyEvent) => endedAtMs ?? Number.POSITIVE_INFINITY;
  return a.startedAtMs <= endOf(b) && b.startedAtMs <= endOf(a);
}
