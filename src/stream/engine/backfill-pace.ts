/** Bounds the forecasts of backfills of all partitions of a worker together. */
export class BackfillPace {
  readonly #gapMs: number;
  #nextMs = 0;

  constructor(forecastsPerSecondMax: number) {
    this.#gapMs = 1_000 / forecastsPerSecondMax;
  }

  /** How long the next forecasts wait; 0: they may be made. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#nextMs - nowMs);
  }

  spend(nowMs: number, forecasts: number): void {
    this.#nextMs = Math.max(nowMs, this.#nextMs) + forecasts * this.#gapMs;
  }
}
