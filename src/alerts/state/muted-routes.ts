import { isWithin } from '../../calendar/local-times.ts';
import type { SeriesPattern } from '../../series/series-pattern.ts';
import type { Subject } from '../message/subject.ts';
import type { AlertRoute, MuteWindow } from '../routes/alert-route.ts';
import { concerns } from '../routes/match-event.ts';
import type { IncidentEvents } from './incident-events.ts';

const MINUTE_MS = 60_000;

/** Which routes are muted. Windows begin and end with a minute, so they are looked at once in each. */
export class MutedRoutes {
  readonly #routes: readonly AlertRoute[];
  readonly #incidentEvents: Pick<IncidentEvents, 'areAbout'>;
  #minute = -1;
  #windows: ReadonlyMap<string, readonly MuteWindow[]> = new Map();

  constructor(routes: readonly AlertRoute[], incidentEvents: Pick<IncidentEvents, 'areAbout'>) {
    this.#routes = routes;
    this.#incidentEvents = incidentEvents;
  }

  /** An incident is muted where all of its events are. */
  has({ name }: AlertRoute, subject: Subject, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (this.#minute !== minute) {
      this.#minute = minute;
      const now = ({ times }: MuteWindow) => isWithin(times, nowMs);
      this.#windows = new Map(this.#routes.map((route) => [route.name, route.mute.filter(now)]));
    }
    return this.#windows.get(name)?.some(({ series }) => series === null || this.#isAbout(series, subject)) ?? false;
  }

  #isAbout(series: SeriesPattern, subject: Subject): boolean {
    return 'event' in subject
      ? concerns(series, subject.event)
      : this.#incidentEvents.areAbout(series, subject.incident.incidentId);
  }
}
