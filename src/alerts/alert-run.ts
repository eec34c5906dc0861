import { setTimeout as sleep } from 'node:timers/promises';
import type { AnomalyEvent } from '../record/anomaly-event.ts';
import type { AlertLog, AlertStateSession, EventReading } from './alert-log.ts';
import type { AlertReports } from './alert-reports.ts';
import { LANE_BACKOFF, type LaneBackoff, type LaneHandlers, ReceiverLane } from './delivery/receiver-lane.ts';
import { identify, type Notification } from './message/notification.ts';
import { openReceivers } from './receivers/open-receivers.ts';
import type { Routes } from './routes/alert-route.ts';
import { AlertState } from './state/alert-state.ts';
import type { EventPlace } from './state/event-place.ts';

/** What is due is done so often. */
const TICK_MS = 250;
/** How often what is open is sent again to receivers that forget. */
const REMIND_MS = 60_000;
/** Events of one reminder. */
const REMINDED_MAX = 100;
/** How long an orderly end waits for receivers. */
const DRAIN_MS_MAX = 5_000;
const ABANDON_MS_MAX = 1_000;

export interface AlertRunOptions {
  readonly log: AlertLog;
  readonly routes: Routes;
  readonly reports: AlertReports;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Whether dead letters are queued again when the run begins. */
  readonly redeliver: boolean;
  readonly backoff?: LaneBackoff;
  /** Those of these events that somebody has acknowledged; null where nobody can. */
  readonly acknowledged: ((eventIds: readonly string[]) => Promise<ReadonlySet<string>>) | null;
}

/**
 * One ownership of the state, from its restore to its loss. A notification is sent after the decision to send it was
 * written, and forgotten after its acceptance was: a crash between the two repeats it. On any failure the whole run is
 * discarded, and the next one continues from what was written.
 */
export class AlertRun {
  readonly #options: AlertRunOptions;
  readonly #state: AlertState;
  readonly #session: AlertStateSession;
  readonly #lanes = new Map<string, ReceiverLane>();
  readonly #end = Promise.withResolvers<Error | null>();
  #reading: EventReading | null = null;
  #writing: Promise<void> | null = null;
  #ended = false;
  #advancing = false;
  #tick: NodeJS.Timeout | undefined;
  #remindedMs = Number.NEGATIVE_INFINITY;

  /** Resolves with the failure that ended it, or with null after `stop`. */
  readonly finished: Promise<Error | null> = this.#end.promise;

  private constructor(options: AlertRunOptions, session: AlertStateSession, state: AlertState) {
    this.#options = options;
    this.#session = session;
    this.#state = state;
  }

  /** Takes the state over and continues from it. Rejects when `signal` aborts before. */
  static async start(options: AlertRunOptions, signal: AbortSignal): Promise<AlertRun> {
    const { log, routes, reports, nowMs } = options;
    const session = await log.openState(signal);
    try {
      const state = new AlertState(routes, (suppression) => reports.suppressed(suppression));
      await session.load((key, json) => state.restore(key, json));
      state.restored(nowMs());
      if (options.redeliver) reports.redelivered(state.redeliver(nowMs()));
      const run = new AlertRun(options, session, state);
      await run.#begin();
      return run;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Notifications that wait, by receiver. */
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
        onAttempt: (outcome, tookMs) => reports.attempted(name, outcome, tookMs),
      };
      this.#lanes.set(name, new ReceiverLane({ open, handlers, backoff, nowMs, random }));
    }
    await this.#write();
    const reading = await log.readEvents(this.#state.place.get(), {
      onEvents: (events, after) => this.#observe(events, after),
      onConnection: (error) => reports.connection(error),
    });
    this.#reading = reading;
    if (this.#ended) {
      await reading.stop();
      return;
    }
    // A restart before the first event must not begin at a later end.
    if (this.#state.place.get() === null) this.#state.place.moveTo(reading.begin);
    await this.#write();
    this.#tick = setInterval(() => void this.#advance(), TICK_MS);
  }

  /** Resolves once the events and what follows from them are written. */
  async #observe(events: readonly AnomalyEvent[], after: EventPlace): Promise<void> {
    if (this.#ended) return;
    const { nowMs, reports } = this.#options;
    for (const event of events) {
      this.#state.observe(event, nowMs());
      reports.observed(event.type);
    }
    this.#state.place.moveTo(after);
    await this.#write();
  }

  /** One at a time: an answer about acknowledgements may take longer than a tick. */
  async #advance(): Promise<void> {
    if (this.#advancing || this.#ended) return;
    this.#advancing = true;
    await this.#acknowledge();
    this.#advancing = false;
    if (this.#ended) return;
    const nowMs = this.#options.nowMs();
    this.#state.advance(nowMs);
    void this.#write();
    if (nowMs - this.#remindedMs < REMIND_MS) return;
    this.#remindedMs = nowMs;
    this.#remind(nowMs);
  }

  /** Where it cannot be known, what is due is escalated. */
  async #acknowledge(): Promise<void> {
    const { acknowledged, nowMs, reports } = this.#options;
    const due = acknowledged === null ? [] : this.#state.escalating(nowMs());
    if (acknowledged === null || due.length === 0) return;
    try {
      this.#state.acknowledge(await acknowledged(due));
    } catch (error) {
      reports.unacknowledged(error as Error);
    }
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
        const changes = this.#state.takeChanges();
        const added = this.#state.outbox.takeAdded();
        if ((changes.size === 0 && added.length === 0) || this.#ended) break;
        if (changes.size > 0) await this.#session.write(changes);
        if (this.#ended) break;
        for (const [key, notification] of added) this.#lanes.get(notification.receiver)?.add(key, notification);
      }
    } catch (error) {
      void this.#finish(error as Error);
    }
    this.#writing = null;
  }

  #remind(nowMs: number): void {
    for (const [receiver, lane] of this.#lanes) {
      if (!lane.forgets) continue;
      const open = this.#state.openAt(receiver);
      const reminders: Notification[] = [];
      const message = { receiver, route: '', group: null, escalatedAfterMinutes: null, createdAtMs: nowMs };
      for (let first = 0; first < open.length; first += REMINDED_MAX) {
        reminders.push(identify({ ...message, notices: open.slice(first, first + REMINDED_MAX) }));
      }
      lane.remind(reminders);
    }
  }

  async #finish(error: Error | null): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#tick);
    for (const lane of this.#lanes.values()) lane.stop();
    await this.#reading?.stop();
    await this.#session.close();
    this.#end.resolve(error);
  }
}
