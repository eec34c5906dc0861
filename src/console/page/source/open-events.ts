import type { EventAnswer, UnreviewedEvent } from '../../../sidecar/wire/schema/event-schema.ts';
import type { ConsoleSource } from '../../view/console-source.ts';
import type { ShownSeries } from '../../view/shown-scores.ts';

export interface OpenEventsState {
  /** null until they are known. */
  readonly events: readonly EventAnswer[] | null;
  /** Open events of the service, those beyond the shown ones too. */
  readonly total: number;
  /** Ended while the page was open, newest first. */
  readonly ended: readonly EventAnswer[];
  readonly worst: ReadonlyMap<string, ShownSeries>;
  readonly connected: boolean;
  readonly failure: string | null;
}

const SHOWN_MAX = 200;
const ENDED_MAX = 20;
/** What was missed, such as reviews of events, is read again this often. */
const REFRESH_MS = 20_000;
/** After a failure it is tried again sooner, such as while the service starts. */
const RETRY_MS = 1_500;
/** Messages are shown together: a screen that changes more often cannot be read. */
const SHOW_MS = 500;

/** The open events, followed while they change. One for the whole page. */
export class OpenEvents {
  state: OpenEventsState = {
    events: null,
    total: 0,
    ended: [],
    worst: new Map(),
    connected: false,
    failure: null,
  };
  readonly #source: ConsoleSource;
  readonly #listeners = new Set<(state: OpenEventsState) => void>();
  #stop: (() => void) | null = null;
  #showing = false;

  constructor(source: ConsoleSource) {
    this.#source = source;
  }

  start(): void {
    if (this.#stop !== null) return;
    const unwatch = this.#source.watch(null, {
      onEvent: (event) => this.#take(event),
      onWorst: (series) => this.#set({ worst: new Map(series.map((row) => [row.id, row])) }),
      onScores: () => {},
      onConnected: (connected) => {
        if (connected && !this.state.connected) void this.refresh();
        this.#set({ connected });
      },
    });
    const timer = setInterval(() => document.hidden || void this.refresh(), REFRESH_MS);
    this.#stop = () => {
      unwatch();
      clearInterval(timer);
    };
    void this.refresh();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
  }

  async refresh(): Promise<void> {
    try {
      const { events, total_open: total } = await this.#source.events({ open: true, limit: SHOWN_MAX });
      this.#set({ events, total, failure: null });
    } catch (error) {
      this.#set({ failure: (error as Error).message });
      setTimeout(() => this.#stop !== null && void this.refresh(), RETRY_MS);
    }
  }

  subscribe(listener: (state: OpenEventsState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.state);
    return () => this.#listeners.delete(listener);
  }

  #take(event: UnreviewedEvent): void {
    const { events, total, ended } = this.state;
    if (events === null) return;
    const known = events.find(({ event_id }) => event_id === event.event_id);
    const others = events.filter(({ event_id }) => event_id !== event.event_id);
    // A message of the stream has no reviews.
    const { acknowledged = null, muted = null, label = null } = known ?? {};
    const merged = { ...event, acknowledged, muted, label };
    if (event.ended_at === null) {
      this.#set({ events: [merged, ...others].slice(0, SHOWN_MAX), total: total + Number(known === undefined) });
    } else {
      this.#set({
        events: others,
        total: Math.max(0, total - Number(known !== undefined)),
        ended: [merged, ...ended.filter(({ event_id }) => event_id !== event.event_id)].slice(0, ENDED_MAX),
      });
    }
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
