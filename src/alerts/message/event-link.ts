import type { AnomalyEvent } from '../../record/anomaly-event.ts';

/** The page of an event in the console; null where the routes file has no address of the console. */
export function eventLink(consoleUrl: string | null, { eventId }: Pick<AnomalyEvent, 'eventId'>): string | null {
  return consoleUrl === null ? null : `${consoleUrl}#/events/${encodeURIComponent(eventId.toWellFormed())}`;
}
