import type { WorkerPace } from './state/worker-pace.ts';

/** Back-off of a task after its first failure. Each further one doubles it, up to RETRY_MS_MAX. */
export const RETRY_MS_MIN = 200;
export const RETRY_MS_MAX = 5_000;

/** A transaction that is due begins late by this share of the interval, where records can be scored meanwhile. */
const LATE_SHARE = 0.1;

/**
 * When the transactions of one partition begin: `intervalMs` apart, and within the pace of the worker. With many
 * partitions the interval stretches for all of them alike.
 */
export class CommitSchedule {
  readonly #intervalMs: number;
  /** Time that a transaction that is due may take in what can be scored at once. */
  readonly lateMsMax: number;
  readonly #pace: WorkerPace;
  #nextMs = 0;
  #slotMs: number | null = null;

  constructor(intervalMs: number, pace: WorkerPace) {
    this.#intervalMs = intervalMs;
    this.lateMsMax = intervalMs * LATE_SHARE;
    this.#pace = pace;
  }

  /** Time that the next transaction waits; 0 or less: it is to begin. One that `isFull` waits for its slot only. */
  waitMs(nowMs: number, isFull: boolean): number {
    if (!isFull && nowMs < this.#nextMs) return this.#nextMs - nowMs;
    this.#slotMs ??= this.#pace.reserve(nowMs);
    return this.#slotMs - nowMs;
  }

  began(nowMs: number): void {
    this.#nextMs = nowMs + this.#intervalMs;
    this.#slotMs = null;
  }
}
