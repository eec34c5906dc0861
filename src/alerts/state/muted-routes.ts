import { choosesSubject, type MutedSeries, mutingOf } from '../../records/series/muted-series.ts';
import type { SeriesPattern } from '../../records/series/series-pattern.ts';
import { isWithin } from '../../time/local-times.ts';
import type { Subject } from '../message/subject.ts';
import type { AlertRoute, MuteWindow } from '../routes/alert-route.ts';
import type { MatchedEvent } from '../routes/match-event.ts';
import type { IncidentEvents } from './incident-events.ts';

const MINUTE_MS = 60_000;

/**
 * Which routes are muted, by their windows or by people. Windows start and end with a minute, so they are checked once
 * a minute.
 */
export class MutedRoutes {
  readonly #routes: readonly AlertRoute[];
  readonly #incidentEvents: Pick<IncidentEvents, 'areAbout' | 'isEach'>;
  #muting = mutingOf<MutedSeries>([]);
  #minute = -1;
  #windows: ReadonlyMap<string, readonly MuteWindow[]> = new Map();

  constructor(routes: readonly AlertRoute[], incidentEvents: Pick<IncidentEvents, 'areAbout' | 'isEach'>) {
    this.#routes = routes;
    this.#incidentEvents = incidentEvents;
  }

  /** Mutes of people, on every route. */
  choose(mutes: readonly MutedSeries[]): void {
    this.#muting = mutingOf(mutes);
  }

  /** An incident is muted if all of its events are. */
  has({ name }: AlertRoute, subject: Subject, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (this.#minute !== minute) {
      this.#minute = minute;
      const now = ({ times }: MuteWindow) => isWithin(times, nowMs);
      this.#windows = new Map(this.#routes.map((route) => [route.name, route.mute.filter(now)]));
    }
    const windows = this.#windows.get(name) ?? [];
    return (
      windows.some(({ series }) => series === null || this.#isAbout(series, subject)) ||
      this.#isMutedByPeople(subject, nowMs)
    );
  }

  #isMutedByPeople(subject: Subject, nowMs: number): boolean {
    const isMuted = (event: MatchedEvent) => this.#muting(event, nowMs) !== undefined;
    return 'event' in subject
      ? isMuted(subject.event)
      : this.#incidentEvents.isEach(subject.incident.incidentId, isMuted);
  }

  #isAbout(series: SeriesPattern, subject: Subject): boolean {
    return 'event' in subject
      ? choosesSubject(series, subject.event)
      : this.#incidentEvents.areAbout(series, subject.incident.incidentId);
  }
}
