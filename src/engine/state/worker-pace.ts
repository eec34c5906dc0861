/** Bounds what all partitions of a worker do together: its transactions, or the forecasts of its backfills. */
export class WorkerPace {
  readonly #gapMs: number;
  #nextMs = 0;

  constructor(perSecondMax: number) {
    this.#gapMs = 1_000 / perSecondMax;
  }

  /** Time until the next slot that is free; 0: it is. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextMs - nowMs);
  }

  /** Takes the next `count` slots, in the order of asking. Returns the time of the first. */
  reserve(nowMs: number, count = 1): number {
    const slotMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = slotMs + count * this.#gapMs;
    return slotMs;
  }
}
