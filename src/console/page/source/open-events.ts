import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import type { IncidentAnswer } from '../../../api/wire/schema/operations/incident-schema.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import type { Incident } from '../../../records/incident.ts';
import { patternProblem } from '../../../records/series/series-pattern.ts';
import type { ConsoleSource, SourceFailure } from '../../view/console-source.ts';
import type { ShownSeries } from '../../view/scores/shown-scores.ts';
import type { KnownFreshness } from '../../view/words/freshness-words.ts';
import { withIncident, withRevision } from '../../view/words/incident-words.ts';
import { livePause } from './live-pause.ts';

export interface OpenEventsState extends KnownFreshness {
  /** null until they are known. */
  readonly events: readonly EventAnswer[] | null;
  /** Open events of the service, those beyond the shown ones too. */
  readonly total: number;
  /** Open ones of several events, or of a pause. */
  readonly incidents: readonly IncidentAnswer[];
  readonly incidentsTotal: number;
  /** Ended while the page was open, newest first. */
  readonly ended: readonly EventAnswer[];
  readonly worst: ReadonlyMap<string, ShownSeries>;
  readonly connected: boolean;
  readonly failure: string | null;
}

const SHOWN_MAX = 200;
const ENDED_MAX = 20;
/** Interval of reading what was missed, such as reviews of events. */
const REFRESH_MS = 20_000;
/** Interval of reading the freshness of the scores. */
const FRESHNESS_MS = 3_000;
/** After a failure it is tried again sooner, such as while the service starts. */
const RETRY_MS = 1_500;
/** The status of what cannot be read as it is requested. */
const REFUSED = 422;
/** However many new events arrive, they are read again together. */
const SOON_MS = 2_000;
/** Messages are shown together: a screen that changes more often cannot be read. */
const SHOW_MS = 500;

/** The open events, followed while they change. One for the whole page. */
export class OpenEvents {
  state: OpenEventsState = {
    events: null,
    total: 0,
    incidents: [],
    incidentsTotal: 0,
    ended: [],
    worst: new Map(),
    connected: false,
    failure: null,
    freshness: undefined,
    freshnessFailure: null,
  };
  readonly #source: ConsoleSource;
  readonly #listeners = new Set<(state: OpenEventsState) => void>();
  #stop: (() => void) | null = null;
  #unwatch = () => {};
  /** Only these events; empty: all. */
  #match = '';
  #showing = false;
  #soon: ReturnType<typeof setTimeout> | null = null;

  constructor(source: ConsoleSource) {
    this.#source = source;
  }

  start(): void {
    if (this.#stop !== null) return;
    this.#watch();
    const timer = setInterval(() => document.hidden || livePause.state.paused || void this.refresh(), REFRESH_MS);
    const fresh = setInterval(() => document.hidden || void this.#readFreshness(), FRESHNESS_MS);
    this.#stop = () => {
      this.#unwatch();
      clearInterval(timer);
      clearInterval(fresh);
    };
    void this.refresh();
    void this.#readFreshness();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  /** Follows only the events that a glob or matchers choose, and their incidents; empty: all. */
  choose(match: string): void {
    if (match === this.#match && this.state.failure === null) return;
    const problem = match === '' ? null : patternProblem(match);
    if (problem !== null) {
      this.#set({ failure: `The filter must be ${problem}` });
      return;
    }
    this.#match = match;
    if (this.#stop === null) return;
    this.#watch();
    void this.refresh();
  }

  async refresh(): Promise<void> {
    const match = this.#match;
    try {
      const [{ events, total_open: total }, { incidents, total_open: incidentsTotal }] = await Promise.all([
        this.#source.events({ open: true, match, limit: SHOWN_MAX }),
        this.#source.incidents({ open: true, single: false, limit: SHOWN_MAX }),
      ]);
      if (match !== this.#match) return;
      if (match === '') this.#set({ events, total, incidents, incidentsTotal, failure: null });
      else {
        const chosen = incidents.filter(({ incidentId: id }) => events.some((event) => event.incidentId === id));
        const totals = { total: events.length, incidentsTotal: chosen.length };
        this.#set({ events, incidents: chosen, ...totals, failure: null });
      }
    } catch (error) {
      if (match !== this.#match) return;
      this.#set({ failure: (error as Error).message });
      // What is refused would be again.
      if ((error as SourceFailure).status === REFUSED) return;
      setTimeout(() => this.#stop !== null && void this.refresh(), RETRY_MS);
    }
  }

  #watch(): void {
    this.#unwatch();
    this.#unwatch = this.#source.watch(
      { series: null, match: this.#match },
      {
        onEvent: (event) => this.#accept(event),
        onIncident: (incident) => this.#acceptIncident(incident),
        onWorst: (series) => this.#set({ worst: new Map(series.map((row) => [row.series, row])) }),
        onConnected: (connected) => {
          if (connected && !this.state.connected && !livePause.state.paused) void this.refresh();
          this.#set({ connected });
        },
      },
    );
  }

  subscribe(listener: (state: OpenEventsState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.state);
    return () => this.#listeners.delete(listener);
  }

  async #readFreshness(): Promise<void> {
    try {
      this.#set({ freshness: await this.#source.freshness(), freshnessFailure: null });
    } catch (error) {
      this.#set({ freshnessFailure: (error as Error).message });
    }
  }

  #accept(event: AnomalyEvent): void {
    const { events, total, ended } = this.state;
    if (events === null) return;
    const known = events.find(({ eventId }) => eventId === event.eventId);
    const others = events.filter(({ eventId }) => eventId !== event.eventId);
    // A message of the stream has what its topic has.
    const { acknowledged = null, muted = null, label = null, incidentId = null } = known ?? {};
    const merged = { ...event, acknowledged, muted, label, incidentId };
    if (known === undefined && event.endedAtMs === null) this.#refreshSoon();
    if (event.endedAtMs === null) {
      this.#set({ events: [merged, ...others].slice(0, SHOWN_MAX), total: total + Number(known === undefined) });
    } else {
      this.#set({
        events: others,
        total: Math.max(0, total - Number(known !== undefined)),
        ended: [merged, ...ended.filter(({ eventId }) => eventId !== event.eventId)].slice(0, ENDED_MAX),
      });
    }
  }

  /** The message of a new event has neither its mute nor its incident. */
  #refreshSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = null;
      if (this.#stop !== null) void this.refresh();
    }, SOON_MS);
  }

  #acceptIncident(revision: Incident): void {
    const { events, incidents, incidentsTotal } = this.state;
    if (events === null) return;
    const next = withRevision(incidents, revision);
    this.#set({
      events: withIncident(events, revision),
      incidents: next.slice(0, SHOWN_MAX),
      incidentsTotal: Math.max(next.length, incidentsTotal + next.length - incidents.length),
    });
  }

  #set(changed: Partial<OpenEventsState>): void {
    this.state = { ...this.state, ...changed };
    if (this.#showing) return;
    this.#showing = true;
    const show = () => {
      this.#showing = false;
      for (const listener of this.#listeners) listener(this.state);
    };
    setTimeout(show, changed.events === undefined ? SHOW_MS : 0);
  }
}
