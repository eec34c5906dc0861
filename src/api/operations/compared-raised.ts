import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { type LabelledEvent, overlapping, type RaisedBoth } from './labels-raised.ts';

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
