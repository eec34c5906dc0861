import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import { isQuiet } from './event-rules.ts';
import type { EventSubject } from './event-tracker.ts';
import { conclude, type EventMoment, newEvent, type OpenEvent } from './open-event.ts';

/** The last missing value of a series that stopped. */
interface SilentSince extends EventMoment {
  /** Input offset of the last observation. */
  readonly offset: number;
  /** How many series have stopped, where many pause together. */
  readonly seriesCount?: number;
}

/** A series that stopped, or many; null in times in which no alarm counts. */
export function silenceEvent(subject: EventSubject, stop: SilentSince): OpenEvent | null {
  const { position, timestampMs, offset, seriesCount } = stop;
  if (isQuiet(timestampMs, subject.rules)) return null;
  const event = newEvent(subject, {
    eventId: subject.idOf(`silence ${offset}`),
    kind: 'silence',
    moment: { position, timestampMs },
    leader: subject.series ?? '',
    scale: 0,
    changeScale: 0,
    leading: 0,
    peak: { timestampMs, grade: null, value: null, expected: null, lo: null, hi: null, unusual: null },
  });
  return seriesCount === undefined ? event : { ...event, seriesCount };
}

/** The series sends again. */
export function concludeSilence(event: OpenEvent, moment: EventMoment): AnomalyEvent {
  event.lastAlarm = moment;
  return conclude(event, 'returned', moment.timestampMs);
}
