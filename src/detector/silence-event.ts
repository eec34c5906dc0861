import type { AnomalyEvent } from './event.ts';
import { isQuiet } from './event-rules.ts';
import type { EventSubject } from './event-tracker.ts';
import { NO_SHARES } from './member-shares.ts';
import { conclude, type EventMoment, type OpenEvent } from './open-event.ts';

/** A series that stopped; null in times in which no alarm counts. `moment` is that of the last missing value. */
export function silenceEvent(
  { detector, series, group, labels, rules, idOf }: EventSubject,
  moment: EventMoment & { readonly offset: number },
): OpenEvent | null {
  const { position, timestampMs, offset } = moment;
  if (isQuiet(timestampMs, rules)) return null;
  return {
    eventId: idOf(`silence ${offset}`),
    revision: -1,
    detector,
    series,
    group,
    labels,
    start: position,
    startedAtMs: timestampMs,
    leader: series ?? '',
    scale: 0,
    changeScale: 0,
    leading: 0,
    residuals: [],
    kind: 'silence',
    alarms: 0,
    alarmsBelow: 0,
    lastAlarm: { position, timestampMs },
    checked: { position, alarms: 0 },
    severity: null,
    peak: { timestampMs, grade: null, value: null, expected: null, lo: null, hi: null, unusual: null },
    shares: NO_SHARES,
  };
}

/** The series sends again. */
export function concludeSilence(event: OpenEvent, moment: EventMoment): AnomalyEvent {
  event.lastAlarm = moment;
  return conclude(event, 'returned', moment.timestampMs);
}
