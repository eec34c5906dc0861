import type { AnomalyEvent } from '../records/anomaly-event.ts';
import type { Incident } from '../records/incident.ts';
import type { EventPlace } from '../singleton/event-place.ts';
import type { RecordReading, SingletonLog, StateSession } from '../singleton/singleton-log.ts';
import type { SingletonRun } from '../singleton/singleton-service.ts';
import { IncidentState, type IncidentStateOptions } from './incident-state.ts';

/** Interval of the revisions that are due. */
const TICK_MS = 250;

export interface IncidentRunOptions extends IncidentStateOptions {
  readonly log: SingletonLog;
  readonly encode: (incident: Incident) => Buffer;
  readonly nowMs: () => number;
  readonly onConnection: (error: Error | null) => void;
  readonly ingested: (event: AnomalyEvent) => void;
  readonly written: (incident: Incident) => void;
}

/**
 * One active period, from the restore of the state to its loss. Revisions, the state that they follow from, and the
 * position of reading commit in one transaction. On any failure the whole run is discarded, and the next one continues
 * from what was written.
 */
export class IncidentRun implements SingletonRun {
  readonly #options: IncidentRunOptions;
  readonly #session: StateSession;
  readonly #state: IncidentState;
  readonly #end = Promise.withResolvers<Error | null>();
  #reading: RecordReading | null = null;
  #writing: Promise<void> | null = null;
  #ended = false;
  #tick: NodeJS.Timeout | undefined;

  readonly finished: Promise<Error | null> = this.#end.promise;

  private constructor(options: IncidentRunOptions, session: StateSession, state: IncidentState) {
    this.#options = options;
    this.#session = session;
    this.#state = state;
  }

  /** Restores the state and continues from it. Rejects if `signal` aborts before. */
  static async start(options: IncidentRunOptions, signal: AbortSignal): Promise<IncidentRun> {
    const session = await options.log.openState(signal);
    let run: IncidentRun | null = null;
    try {
      const state = new IncidentState(options);
      await session.load((key, json) => state.restore(key, json));
      state.restored();
      run = new IncidentRun(options, session, state);
      await run.#begin();
      return run;
    } catch (error) {
      await (run === null ? session.close() : run.#finish(error as Error));
      throw error;
    }
  }

  get open(): number {
    return this.#state.open;
  }

  get events(): number {
    return this.#state.events;
  }

  /** Writes pending decisions first. */
  async stop(): Promise<void> {
    clearInterval(this.#tick);
    await this.#write();
    await this.#finish(null);
  }

  async abandon(): Promise<void> {
    await this.#finish(null);
  }

  async #begin(): Promise<void> {
    const { log, nowMs, onConnection } = this.#options;
    const reading = await log.readEvents(this.#state.place.get(), {
      onRecords: (events, after) => this.#ingest(events, after),
      onConnection,
    });
    this.#reading = reading;
    if (this.#ended) {
      await reading.stop();
      return;
    }
    // A restart before the first event must not begin at a later end.
    if (this.#state.place.get() === null) this.#state.place.moveTo(reading.begin);
    await this.#write();
    if (this.#ended) return;
    this.#tick = setInterval(() => {
      this.#state.advance(nowMs());
      void this.#write();
    }, TICK_MS);
  }

  /** Resolves once the events and what follows from them are written. */
  async #ingest(events: readonly AnomalyEvent[], after: EventPlace): Promise<void> {
    if (this.#ended) return;
    const { nowMs, ingested } = this.#options;
    for (const event of events) {
      this.#state.ingest(event, nowMs());
      ingested(event);
    }
    this.#state.advance(nowMs());
    this.#state.place.moveTo(after);
    await this.#write();
  }

  /** One transaction at a time; what changes meanwhile is in the next one. Never rejects: a failure ends the run. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Not at once: the promise must be known before it can be forgotten below.
    await Promise.resolve();
    const { encode, written } = this.#options;
    try {
      for (;;) {
        const incidents = this.#state.drainRevisions();
        const changes = this.#state.drainChanges();
        if (changes.size === 0 || this.#ended) break;
        const following = incidents.map((incident) => ({ key: incident.incidentId, value: encode(incident) }));
        await this.#session.write(changes, following);
        for (const incident of incidents) written(incident);
      }
    } catch (error) {
      void this.#finish(error as Error);
    }
    this.#writing = null;
  }

  async #finish(error: Error | null): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#tick);
    await this.#reading?.stop();
    await this.#session.close();
    this.#end.resolve(error);
  }
}
