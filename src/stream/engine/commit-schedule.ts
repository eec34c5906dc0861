/**
 * Bounds the transactions of all partitions of a worker together. Each gets the next free slot, in the order of asking:
 * with many partitions the interval stretches for all of them alike.
 */
export class TransactionPace {
  readonly #gapMs: number;
  #nextMs = 0;

  constructor(perSecondMax: number) {
    this.#gapMs = 1_000 / perSecondMax;
  }

  /** The time of a slot, which is taken from now on. */
  reserve(nowMs: number): number {
    const slotMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = slotMs + this.#gapMs;
    return slotMs;
  }
}

/** When the transactions of one partition begin: `intervalMs` apart, and within the pace of the worker. */
export class CommitSchedule {
  readonly #intervalMs: number;
  readonly #pace: TransactionPace;
  #nextMs = 0;
  #slotMs: number | null = null;

  constructor(intervalMs: number, pace: TransactionPace) {
    this.#intervalMs = intervalMs;
    this.#pace = pace;
  }

  /** How long the next transaction waits; 0 or less: it is to begin. One that `isFull` waits for its slot only. */
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
