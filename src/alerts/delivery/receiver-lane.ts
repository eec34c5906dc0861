import type { AlertDeath, Notification } from '../message/notification.ts';
import { dedupKeyOf } from '../message/subject.ts';
import type { OpenReceiver } from '../receivers/open-receivers.ts';
import type { DeliveryOutcome, RefusedAddress } from '../receivers/receiver.ts';

/** Deliveries of one receiver at a time, while it is up. */
const CONCURRENCY = 4;
/** Failures in a row after which the receiver counts as down: it is paused, then tried one by one. */
const FAILURES_DOWN = 4;
/** Most queued deliveries that are searched for one that may start. */
const LOOK_AHEAD = 1_000;

export const LANE_BACKOFF = { initialMs: 500, delayMsMax: 300_000 };
export type LaneBackoff = Readonly<typeof LANE_BACKOFF>;

export interface LaneHandlers {
  accepted(key: string): void;
  failed(key: string, death: AlertDeath): void;
  /** Only the addresses in `to` are sent it again. */
  narrowed(key: string, to: readonly string[], refused: readonly RefusedAddress[]): void;
  onAttempt(outcome: DeliveryOutcome, tookMs: number): void;
}

interface LaneOptions {
  readonly open: OpenReceiver;
  readonly handlers: LaneHandlers;
  readonly backoff: LaneBackoff;
  readonly nowMs: () => number;
  readonly random: () => number;
}

interface Delivery {
  /** null for a repetition, whose failure is dropped. */
  readonly key: string | null;
  notification: Notification;
  state: 'waiting' | 'running';
  failures: number;
  notBeforeMs: number;
}

/**
 * The queue of one receiver. What concerns the same event or incident is delivered in order, one after the other;
 * others pass it. Failures are repeated with back-off, until `retry_for` has passed. Receivers do not see each other's
 * lanes.
 */
export class ReceiverLane {
  readonly #options: LaneOptions;
  readonly #deliveries: Delivery[] = [];
  readonly #stopping = new AbortController();
  #running = 0;
  /** Failures since the last success, and the end of the pause after them. */
  #failures = 0;
  #pausedUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #draining = false;
  readonly #idle = Promise.withResolvers<void>();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#deliveries.length;
  }

  add(key: string, notification: Notification): void {
    this.#deliveries.push({ key, notification, state: 'waiting', failures: 0, notBeforeMs: 0 });
    this.#pump();
  }

  /** Repeats alerts once. A failure is dropped: the next repetition is soon. */
  remind(notifications: readonly Notification[]): void {
    if (this.#isDown) return;
    if (this.#deliveries.some(({ key }) => key === null)) return;
    for (const notification of notifications) {
      this.#deliveries.push({ key: null, notification, state: 'waiting', failures: 0, notBeforeMs: 0 });
    }
    this.#pump();
  }

  /** Stops accepting work. Resolves once in-flight deliveries have settled. */
  async drain(): Promise<void> {
    this.#draining = true;
    clearTimeout(this.#timer);
    if (this.#running > 0) await this.#idle.promise;
  }

  /** Interrupts deliveries in flight. The next run repeats them. */
  stop(): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#options.open.receiver.close();
  }

  #pump(): void {
    if (this.#stopping.signal.aborted || this.#draining) return;
    clearTimeout(this.#timer);
    const nowMs = this.#options.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    const busy = new Set<string>();
    for (const delivery of this.#deliveries.slice(0, LOOK_AHEAD)) {
      if (this.#running >= (this.#isDown ? 1 : CONCURRENCY)) return;
      const ids = delivery.notification.notices.map(dedupKeyOf);
      const isFree = delivery.state === 'waiting' && !ids.some((id) => busy.has(id));
      for (const id of ids) busy.add(id);
      if (!isFree) continue;
      const startMs = Math.max(delivery.notBeforeMs, this.#pausedUntilMs);
      if (startMs <= nowMs) void this.#attempt(delivery);
      else nextMs = Math.min(nextMs, startMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#pump(), nextMs - nowMs);
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { open, handlers, nowMs } = this.#options;
    delivery.state = 'running';
    this.#running++;
    const startMs = performance.now();
    const { signal } = this.#stopping;
    const outcome = await open.receiver.send(delivery.notification, signal).catch(unexpected);
    this.#running--;
    if (signal.aborted) {
      this.#idle.resolve();
      return;
    }
    handlers.onAttempt(outcome, performance.now() - startMs);
    if (outcome.kind === 'failed') this.#receiverFailed(delivery, outcome, nowMs());
    else if (outcome.kind === 'partial' && delivery.key !== null) {
      this.#failures = 0;
      handlers.narrowed(delivery.key, outcome.open, outcome.refused);
      delivery.notification = { ...delivery.notification, to: outcome.open };
      if (outcome.open.length === 0) this.#remove(delivery);
      else this.#repeat(delivery, outcome.detail, { nowMs: nowMs(), afterMs: 0 });
    } else {
      this.#failures = 0;
      this.#remove(delivery);
      if (delivery.key !== null && outcome.kind === 'accepted') handlers.accepted(delivery.key);
      if (delivery.key !== null && outcome.kind === 'refused') handlers.failed(delivery.key, outcome);
    }
    if (this.#draining && this.#running === 0) this.#idle.resolve();
    this.#pump();
  }

  #receiverFailed(
    delivery: Delivery,
    { detail, retryAfterMs }: Extract<DeliveryOutcome, { kind: 'failed' }>,
    nowMs: number,
  ): void {
    this.#failures++;
    this.#repeat(delivery, detail, { nowMs, afterMs: retryAfterMs ?? 0 });
    const pauseMs = this.#isDown ? this.#delayMs(this.#failures - FAILURES_DOWN + 1) : 0;
    this.#pausedUntilMs = nowMs + Math.max(pauseMs, retryAfterMs ?? 0);
  }

  #repeat(delivery: Delivery, detail: string, { nowMs, afterMs }: { nowMs: number; afterMs: number }): void {
    const { handlers, open } = this.#options;
    const { key, notification } = delivery;
    delivery.state = 'waiting';
    delivery.failures++;
    if (key === null) {
      this.#remove(delivery);
    } else if (nowMs - notification.createdAtMs >= open.settings.retryForMs) {
      this.#remove(delivery);
      handlers.failed(key, { reason: 'expired', detail: `after ${delivery.failures} attempts: ${detail}` });
    } else {
      delivery.notBeforeMs = nowMs + Math.max(this.#delayMs(delivery.failures), afterMs);
    }
  }

  get #isDown(): boolean {
    return this.#failures >= FAILURES_DOWN;
  }

  /** Exponential, and up to a half shorter by chance, so that receivers are not called by everyone at once. */
  #delayMs(failures: number): number {
    const { initialMs, delayMsMax } = this.#options.backoff;
    const fullMs = Math.min(delayMsMax, initialMs * 2 ** Math.min(failures - 1, 30));
    return fullMs * (1 - this.#options.random() / 2);
  }

  #remove(delivery: Delivery): void {
    const at = this.#deliveries.indexOf(delivery);
    if (at >= 0) this.#deliveries.splice(at, 1);
  }
}

/** Receivers never reject. If one has a bug, the notification must not be lost. */
function unexpected(error: unknown): DeliveryOutcome {
  const detail = `unexpected: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: 'failed', detail, retryAfterMs: null };
}
