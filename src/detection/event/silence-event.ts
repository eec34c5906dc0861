import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { conclude } from './event-revision.ts';
import type { EventMoment } from './open/event-moment.ts';
import type { EventSubject } from './open/event-row.ts';
import { isQuiet } from './open/event-rules.ts';
import { newEvent, type OpenEvent } from './open/open-event.ts';

/** The last missing value of a series that stopped, as that is noticed. */
interface SilentSince extends EventMoment {
  /** Time steps without a value so far. */
  readonly missing: number;
  /** Input offset of the last observation. */
  readonly offset: number;
  /** Number of series that have stopped, if many pause together. */
  readonly seriesCount?: number;
}

/** A series that stopped, or many; null in times in which no alarm counts. */
export function silenceEvent(subject: EventSubject, stop: SilentSince): OpenEvent | null {
  const { position, timestampMs, offset, missing, seriesCount } = stop;
  if (isQuiet(timestampMs, subject.rules)) return null;
  const event = newEvent(subject, {
    eventId: subject.idOf(`silence ${offset}`),
    kind: 'silence',
    begun: { position, timestampMs: timestampMs - Math.round(Math.max(0, missing - 1) * subject.stepMs) },
    firstAlarm: { position, timestampMs },
    leader: subject.series ?? '',
    scale: 0,
    changeScale: 0,
    leading: 0,
    before: null,
    peak: { timestampMs, grade: null, value: null, expected: null, lo: null, hi: null, unusual: null },
  });
  return seriesCount === undefined ? event : { ...event, seriesCount };
}

/**
 * The series sends again. Records that were delayed have event times from before the silence was noticed: it ends no
 * earlier than it began.
 */
export function concludeSilence(event: OpenEvent, moment: EventMoment): AnomalyEvent {
  event.until = moment;
  return conclude(event, 'returned', moment.timestampMs);
}
