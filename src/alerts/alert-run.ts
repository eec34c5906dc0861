import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployments } from '../records/changes/deployments.ts';
import type { Incident } from '../records/incident.ts';
import type { KeptPlace } from '../singleton/event-place.ts';
import type { FollowRecords, RecordReading, SingletonLog, StateSession } from '../singleton/singleton-log.ts';
import { AlertPeople, type PeopleOptions } from './alert-people.ts';
import { LANE_BACKOFF, type LaneBackoff, type LaneHandlers, ReceiverLane } from './delivery/receiver-lane.ts';
import { identify, type Notification, withDeployments } from './message/notification.ts';
import { openReceivers } from './receivers/open-receivers.ts';
import type { Routes } from './routes/alert-route.ts';
import { AlertState } from './state/alert-state.ts';

const TICK_MS = 250;
/** Interval of repetitions to receivers that need them. */
const REMIND_MS = 60_000;
const REMINDED_MAX = 100;
const DRAIN_MS_MAX = 5_000;
const ABANDON_MS_MAX = 1_000;

export interface AlertRunOptions extends PeopleOptions {
  readonly log: SingletonLog;
  readonly readIncidents: FollowRecords<Incident>;
  readonly routes: Routes;
  readonly random: () => number;
  /** Deployments, for messages; left out without a topic of them. */
  readonly changes?: Deployments;
  /** Queues dead letters again at the start. */
  readonly redeliver: boolean;
  readonly backoff?: LaneBackoff;
}

/**
 * One active period, from the restore of the state to its loss. A notification is sent after the decision to send it
 * was written, and deleted after its acceptance was: a crash between the two repeats it. On a failure the whole run is
 * discarded, and the next one continues from what was written.
 */
export class AlertRun {
  readonly #options: AlertRunOptions;
  readonly #state: AlertState;
  readonly #session: StateSession;
  readonly #lanes = new Map<string, ReceiverLane>();
  readonly #end = Promise.withResolvers<Error | null>();
  readonly #readings: RecordReading[] = [];
  /** Topics that cannot be read at present. */
  readonly #lost = new Set<string>();
  #writing: Promise<void> | null = null;
  #ended = false;
  #advancing = false;
  #tick: NodeJS.Timeout | undefined;
  #remindedMs = Number.NEGATIVE_INFINITY;
  readonly #people: AlertPeople;

  /** Resolves with the failure that ended it, or with null after `stop`. */
  readonly finished: Promise<Error | null> = this.#end.promise;

  private constructor(options: AlertRunOptions, session: StateSession, state: AlertState) {
    this.#options = options;
    this.#session = session;
    this.#state = state;
    this.#people = new AlertPeople(options, state);
  }

  /** Restores the state and continues from it. Rejects if `signal` aborts before. */
  static async start(options: AlertRunOptions, signal: AbortSignal): Promise<AlertRun> {
    const { log, routes, reports, nowMs } = options;
    const session = await log.openState(signal);
    let run: AlertRun | null = null;
    try {
      const state = new AlertState(routes, (suppression) => reports.suppressed(suppression));
      await session.load((key, json) => state.restore(key, json));
      state.restored(nowMs());
      if (options.redeliver) reports.redelivered(state.redeliver(nowMs()));
      run = new AlertRun(options, session, state);
      await run.#begin();
      return run;
    } catch (error) {
      await (run === null ? session.close() : run.#finish(error as Error));
      throw error;
    }
  }

  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.#lanes].map(([name, lane]) => [name, lane.waiting]));
  }

  get open(): number {
    return this.#state.open;
  }

  get deadLetters(): number {
    return this.#state.outbox.deadLetterCount;
  }

  /**
   * Ends it in order: waits for what is being sent, at most `DRAIN_MS_MAX`, and writes what was accepted, so that the
   * next run does not send it again.
   */
  async stop(): Promise<void> {
    clearInterval(this.#tick);
    await this.#within(DRAIN_MS_MAX, Promise.all([...this.#lanes.values()].map((lane) => lane.drain())));
    await this.#write();
    await this.#within(ABANDON_MS_MAX, this.#people.keepSent());
    await this.#finish(null);
  }

  /**
   * Ends it soon, because another process begins: what is being sent is interrupted, and sent again there. What was
   * accepted is written, unless the other one has fenced this one already.
   */
  async abandon(): Promise<void> {
    clearInterval(this.#tick);
    for (const lane of this.#lanes.values()) lane.stop();
    await this.#within(ABANDON_MS_MAX, this.#write());
    await this.#finish(null);
  }

  async #within(ms: number, ending: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    const expired = sleep(ms, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([ending, expired, this.finished]);
    late.abort();
  }

  async #begin(): Promise<void> {
    const { log, routes, reports, nowMs, random, backoff = LANE_BACKOFF } = this.#options;
    for (const open of openReceivers(routes)) {
      const { name } = open.settings;
      const handlers: LaneHandlers = {
        // Written with the next decision, or with the next tick: a write of its own would hold decisions up.
        accepted: (key) => this.#state.outbox.accepted(key),
        failed: (key, death) => {
          reports.gaveUp(name, death);
          this.#state.outbox.failed(key, death, nowMs());
          void this.#write();
        },
        narrowed: (key, to, refused) => {
          for (const { detail } of refused) reports.gaveUp(name, { reason: 'refused', detail });
          this.#state.outbox.narrowed(key, { to, refused }, nowMs());
          void this.#write();
        },
        onAttempt: (outcome, tookMs) => reports.attempted(name, outcome, tookMs),
      };
      this.#lanes.set(name, new ReceiverLane({ open, handlers, backoff, nowMs, random }));
    }
    await this.#people.readMutes();
    await this.#write();
    await this.#follow('events', log.readEvents, this.#state.place, (event) => {
      this.#state.ingest(event, nowMs());
      reports.ingested('event', event.type);
    });
    if (this.#state.readsIncidents) {
      await this.#follow('incidents', this.#options.readIncidents, this.#state.incidentPlace, (incident) => {
        this.#state.ingestIncident(incident, nowMs());
        reports.ingested('incident', incident.type);
      });
    }
    if (this.#ended) return;
    await this.#write();
    this.#tick = setInterval(() => void this.#advance(), TICK_MS);
  }

  /**
   * Follows a topic: what follows from its records, and where reading is after them, is written before the next ones
   * are ingested. The order between two topics does not matter.
   */
  async #follow<T>(topic: string, follow: FollowRecords<T>, place: KeptPlace, ingest: (record: T) => void) {
    const reading = await follow(place.get(), {
      onRecords: async (records, after) => {
        if (this.#ended) return;
        for (const record of records) ingest(record);
        place.moveTo(after);
        await this.#write();
      },
      onConnection: (error) => {
        const before = this.#lost.size;
        if (error === null) this.#lost.delete(topic);
        else this.#lost.add(topic);
        if (before === 0 || this.#lost.size === 0) this.#options.reports.connection(error);
      },
    });
    this.#readings.push(reading);
    if (this.#ended) await reading.stop();
    // A restart before the first record must not begin at a later end.
    else if (place.get() === null) place.moveTo(reading.begin);
  }

  /** One at a time: an answer about mutes may take longer than a tick. */
  async #advance(): Promise<void> {
    if (this.#advancing || this.#ended) return;
    this.#advancing = true;
    await this.#people.exchange();
    this.#advancing = false;
    if (this.#ended) return;
    const nowMs = this.#options.nowMs();
    this.#state.advance(nowMs);
    void this.#write();
    if (nowMs - this.#remindedMs < REMIND_MS) return;
    this.#remindedMs = nowMs;
    this.#remind(nowMs);
  }

  /**
   * Writes what has changed, and hands new notifications to their lanes once they are written. What changes meanwhile
   * is written after it, together. Never rejects: a failure ends the run.
   */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll();
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Not at once: the promise must be known before it can be forgotten below.
    await Promise.resolve();
    try {
      for (;;) {
        const changes = this.#state.drainChanges();
        const added = this.#state.outbox.drainAdded();
        if ((changes.size === 0 && added.length === 0) || this.#ended) break;
        if (changes.size > 0) await this.#session.write(changes);
        if (this.#ended) break;
        for (const [key, notification] of added) {
          this.#lanes.get(notification.receiver)?.add(key, this.#withChanges(notification));
        }
      }
    } catch (error) {
      void this.#finish(error as Error);
    }
    this.#writing = null;
  }

  #withChanges(notification: Notification): Notification {
    const { changes } = this.#options;
    return changes === undefined ? notification : withDeployments(notification, changes);
  }

  #remind(nowMs: number): void {
    for (const [receiver, lane] of this.#lanes) {
      const repeated = this.#state.repeatedTo(receiver);
      const reminders: Notification[] = [];
      const message = { receiver, route: '', group: null, createdAtMs: nowMs };
      for (let first = 0; first < repeated.length; first += REMINDED_MAX) {
        const notices = repeated.slice(first, first + REMINDED_MAX);
        reminders.push(this.#withChanges(identify({ ...message, notices })));
      }
      lane.remind(reminders);
    }
  }

  async #finish(error: Error | null): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#tick);
    for (const lane of this.#lanes.values()) lane.stop();
    await Promise.all(this.#readings.map((reading) => reading.stop()));
    await this.#session.close();
    this.#end.resolve(error);
  }
}
