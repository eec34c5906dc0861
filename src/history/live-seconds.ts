import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { Incident } from '../records/incident.ts';
import { isSilence } from '../records/score-record.ts';
import type { HistoryBatch, KeptScore, LiveSecond } from './port/history-port.ts';

/** Revisions of events, and of incidents, of one second; after a restart thousands may arrive at once. */
const EVENTS_MAX = 1_000;
const FOLLOWED_MAX = 10_000;

/** Gathers what was stored, for readers of live: one message a second, however much arrives. */
export class LiveSeconds {
  readonly #newest = new Map<string, KeptScore>();
  #followed: KeptScore[] = [];
  #events: AnomalyEvent[] = [];
  #incidents: Incident[] = [];
  #observations = 0;
  #alarms = 0;
  /** Series of which every score is wanted. */
  follow: ReadonlySet<string> = new Set();

  add({ scores, events, incidents }: Pick<HistoryBatch, 'scores' | 'events' | 'incidents'>): void {
    for (const score of scores) {
      if (!isSilence(score)) this.#observations++;
      if (score.alarm) this.#alarms++;
      const known = this.#newest.get(score.series);
      if (known === undefined || score.timestampMs >= known.timestampMs) this.#newest.set(score.series, score);
      if (this.follow.has(score.series) && this.#followed.length < FOLLOWED_MAX) this.#followed.push(score);
    }
    this.#events.push(...events.map(({ event }) => event).slice(0, EVENTS_MAX - this.#events.length));
    this.#incidents.push(...incidents.map(({ incident }) => incident).slice(0, EVENTS_MAX - this.#incidents.length));
  }

  /** Scores and events since the last call; also without any, so that readers see a live connection. */
  drain(atMs: number): LiveSecond {
    const second = {
      atMs,
      observations: this.#observations,
      alarms: this.#alarms,
      newest: [...this.#newest.values()],
      followed: this.#followed,
      events: this.#events,
      incidents: this.#incidents,
    };
    this.#newest.clear();
    [this.#followed, this.#events, this.#incidents, this.#observations, this.#alarms] = [[], [], [], 0, 0];
    return second;
  }
}
