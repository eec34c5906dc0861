import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import { isQuiet } from './event-rules.ts';
import type { EventSubject } from './event-tracker.ts';
import { conclude, type EventMoment, newEvent, type OpenEvent } from './open-event.ts';

/** A series that stopped; null in times in which no alarm counts. `moment` is that of the last missing value. */
export function silenceEvent(
  subject: EventSubject,
  { position, timestampMs, offset }: EventMoment & { readonly offset: number },
): OpenEvent | null {
  if (isQuiet(timestampMs, subject.rules)) return null;
  return newEvent(subject, {
    eventId: subject.idOf(`silence ${offset}`),
    kind: 'silence',
    moment: { position, timestampMs },
    leader: subject.series ?? '',
    scale: 0,
    changeScale: 0,
    leading: 0,
    peak: { timestampMs, grade: null, value: null, expected: null, lo: null, hi: null, unusual: null },
  });
}

/** The series sends again. */
export function concludeSilence(event: OpenEvent, moment: EventMoment): AnomalyEvent {
  event.lastAlarm = moment;
  return conclude(event, 'returned', moment.timestampMs);
}
